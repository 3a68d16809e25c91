"""Runs work on several cores, in processes that run `python -m rbdgen.pipeline.workers`.

`multiprocessing` is not used: its new processes run the caller's main script again, which never ends for a
script without a main guard, and its forked processes copy the locks of NumPy's libraries without their
threads.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from rbdgen.errors import RbdgenError
from rbdgen.machine import available_cores
from rbdgen.resources import package_root


def in_parallel(
    work: Callable[[Any], Any],
    tasks: Mapping[str, Any],
    begun: Callable[[str], None],
    done: Callable[[str], None],
) -> dict[str, Any]:
    """Runs tasks in parallel, started in their order, and returns their results by name in the same order.

    `work` is a function of a module of rbdgen. `begun(name)` is called, in any thread, when a task begins
    and `done(name)`, in this thread, when a task ends. An exception of `work` is raised in this process.
    """
    workers = min(available_cores(), len(tasks))
    results: dict[str, Any] = {}
    if workers < 2 or not sys.executable:
        for name, task in tasks.items():
            begun(name)
            results[name] = work(task)
            done(name)
        return results
    processes = [_start() for _ in range(workers)]
    try:
        with ThreadPoolExecutor(workers) as pool:
            idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
            for process in processes:
                idle.put(process)

            def remote(name: str) -> Any:
                process = idle.get()
                try:
                    begun(name)
                    return _remote(process, work, tasks[name])
                finally:
                    idle.put(process)

            futures = {pool.submit(remote, name): name for name in tasks}
            try:
                for future in as_completed(futures):
                    results[futures[future]] = future.result()
                    done(futures[future])
            except BaseException:
                for process in processes:
                    process.kill()
                raise
    finally:
        for process in processes:
            _end(process)
    return {name: results[name] for name in tasks}


def _start() -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(package_root().parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "rbdgen.pipeline.workers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        process.communicate()
    process.wait()


def _remote(process: subprocess.Popen[bytes], work: Callable[[Any], Any], task: Any) -> Any:
    """Runs one task on this process."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        pickle.dump((work, task), process.stdin)
        process.stdin.flush()
        fine, result = pickle.load(process.stdout)
    except (OSError, EOFError) as error:
        raise RbdgenError(
            "a working process ended early; if memory is short, name fewer functions"
        ) from error
    if not fine:
        raise result
    return result


def main() -> None:
    """Runs tasks from standard input until it ends, and writes the results to standard output."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keeps output of libraries out of the results
    while True:
        try:
            work, task = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        except KeyboardInterrupt:
            return
        try:
            answer = (True, work(task))
        except Exception as error:
            answer = (False, error)
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        main()
