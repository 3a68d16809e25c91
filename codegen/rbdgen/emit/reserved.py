"""Words that robots and arguments must not be called, because the system or the emitted C uses them."""

from __future__ import annotations

import re
from typing import Final

_HEADERS: Final = frozenset(
    """
    alloca assert complex cpuid ctype dlfcn endian errno fcntl features fenv float ieeefp inttypes
    iso646 libio limits locale malloc math memory mm_malloc newlib picolibc poll pthread pyconfig python
    reent sched semaphore setjmp signal stdalign stdarg stdatomic stdbool stdckdint stddef stdint stdio
    stdlib stdnoreturn string strings structmember tgmath threads time uchar unistd values wchar wctype
    xlocale
    """.split()  # noqa: SIM905  (a list would take a screen)
)
"""Headers of C and POSIX, of C libraries and of Python. Headers of processors end in `intrin`."""

_GLOBAL: Final = frozenset(
    """
    a64l abort abs access acct acos acosf acosh acoshf acoshl acosl alarm alloca asctime asin asinf
    asinh asinhf asinhl asinl asprintf atan atan2 atan2f atan2l atanf atanh atanhf atanhl atanl atof
    atoi atol atoll basename bcmp bcopy brk bsearch bzero calloc canonicalize canonicalizef
    canonicalizel cbrt cbrtf cbrtl ceil ceilf ceill chdir chown chroot clearenv clearerr clock close
    closefrom confstr copysign copysignf copysignl cos cosf cosh coshf coshl cosl ctermid ctime cuserid
    daddl daemon daylight ddivl dfmal difftime div dmull dprintf drand48 drem dremf dreml dsqrtl dsubl
    dup dup2 dup3 dysize eaccess ecvt eigen endusershell environ erand48 erf erfc erfcf erfcl erff erfl
    euidaccess execl execle execlp execv execve execveat execvp execvpe exit exp exp10 exp10f exp10l
    exp2 exp2f exp2l expf expl expm1 expm1f expm1l fabs fabsf fabsl faccessat fadd faddl fchdir fchown
    fchownat fclose fcloseall fcvt fdatasync fdim fdimf fdiml fdiv fdivl fdopen feof ferror fexecve
    fflush ffma ffmal ffs ffsl ffsll fgetc fgetpos fgetpos64 fgets fileno finite finitef finitel
    flockfile floor floorf floorl fma fmaf fmal fmax fmaxf fmaximum fmaximumf fmaximuml fmaxl fmaxmag
    fmaxmagf fmaxmagl fmemopen fmin fminf fminimum fminimumf fminimuml fminl fminmag fminmagf fminmagl
    fmod fmodf fmodl fmul fmull fopen fopen64 fopencookie fork fpathconf fpclassify fprintf fputc fputs
    fread free freopen freopen64 frexp frexpf frexpl fromfp fromfpf fromfpl fromfpx fromfpxf fromfpxl
    fscanf fseek fseeko fseeko64 fsetpos fsetpos64 fsqrt fsqrtl fsub fsubl fsync ftell ftello ftello64
    ftruncate ftruncate64 ftrylockfile funlockfile fwrite gamma gammaf gammal gcvt getc getchar getcwd
    getdate getdelim getdomainname getdtablesize getegid getentropy getenv geteuid getgid getgroups
    gethostid gethostname getline getloadavg getlogin getpagesize getpayload getpayloadf getpayloadl
    getpgid getpgrp getpid getppid getpt getresgid getresuid gets getsid getsubopt gettid getuid
    getusershell getw getwd gmtime grantpt hypot hypotf hypotl ilogb ilogbf ilogbl index initstate
    isatty iscanonical iseqsig isfinite isgreater isgreaterequal isinf isinff isinfl isless islessequal
    islessgreater isnan isnanf isnanl isnormal issignaling isunordered iszero itimerspec j0 j0f j0l j1
    j1f j1l jn jnf jnl jrand48 l64a labs lchown lcong48 ldexp ldexpf ldexpl ldiv lgamma lgammaf lgammal
    link linkat llabs lldiv llogb llogbf llogbl llrint llrintf llrintl llround llroundf llroundl
    localtime lockf log log10 log10f log10l log1p log2 log2f log2l logb logbf logbl logf logl lrand48
    lrint lrintf lrintl lround lroundf lroundl lseek lseek64 malloc mblen mbstowcs mbtowc memccpy memchr
    memcmp memcpy memfrob memmem memmove mempcpy memrchr memset mkdtemp mkostemp mkostemp64 mkostemps
    mkostemps64 mkstemp mkstemp64 mkstemps mkstemps64 mktemp mktime modf modff modfl mrand48 nan nanf
    nanl nanosleep nearbyint nearbyintf nearbyintl nextafter nextafterf nextafterl nextdown nextdownf
    nextdownl nexttoward nexttowardf nexttowardl nextup nextupf nextupl nice nrand48 obstack optarg
    opterr optind optopt pathconf pause pclose perror pipe pipe2 popen pow powf powl pread pread64
    printf profil pselect ptsname putc putchar putenv puts putw pwrite pwrite64 qecvt qfcvt qgcvt qsort
    rand rawmemchr read readlink readlinkat realloc reallocarray realpath remainder remainderf
    remainderl remove remquo remquof remquol rename renameat renameat2 revoke rewind rindex rint rintf
    rintl rmdir round roundeven roundevenf roundevenl roundf roundl rpmatch sbrk scalb scalbf scalbl
    scalbln scalblnf scalblnl scalbn scalbnf scalbnl scanf seed48 setbuf setbuffer setdomainname setegid
    setenv seteuid setgid sethostid sethostname setlinebuf setlogin setpayload setpayloadf setpayloadl
    setpayloadsig setpayloadsigf setpayloadsigl setpgid setpgrp setregid setresgid setresuid setreuid
    setsid setstate setuid setusershell setvbuf sigevent signbit signgam significand significandf
    significandl sin sincos sincosf sincosl sinf sinh sinhf sinhl sinl sleep snprintf sprintf sqrt sqrtf
    sqrtl srand srand48 srandom sscanf std stderr stdin stdout stpcpy stpncpy strcasecmp strcasestr
    strcat strchr strchrnul strcmp strcoll strcpy strcspn strdup strerror strfromd strfromf strfroml
    strfry strftime strlen strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strptime strrchr
    strsep strsignal strspn strstr strtod strtof strtok strtol strtold strtoll strtoq strtoul strtoull
    strtouq strverscmp strxfrm swab symlink symlinkat sync syncfs syscall sysconf system tan tanf tanh
    tanhf tanhl tanl tcgetpgrp tcsetpgrp tempnam tgamma tgammaf tgammal timegm timelocal timespec
    timeval timex timezone tm tmpfile tmpfile64 tmpnam totalorder totalorderf totalorderl totalordermag
    totalordermagf totalordermagl trunc truncate truncate64 truncf truncl ttyname ttyslot tzname tzset
    ualarm ufromfp ufromfpf ufromfpl ufromfpx ufromfpxf ufromfpxl uint ulong ungetc unlink unlinkat
    unlockpt unsetenv ushort usleep valloc vasprintf vdprintf vfork vfprintf vfscanf vhangup vprintf
    vscanf vsnprintf vsprintf vsscanf wcstombs wctomb write y0 y0f y0l y1 y1f y1l yn ynf ynl
    """.split()  # noqa: SIM905
)
"""Names that the C library may declare if the C++ header <array> is included. A C++ namespace of that name
would clash with them.
"""


_MACROS: Final = frozenset(
    {"EOF", "FILE", "FLT_EVAL_METHOD", "HUGE_VAL", "INFINITY", "NAN", "NULL", "PROCESSOR_NEEDS"}
)
"""Well-known macros of the C library and those of compiled packages, which are in capitals."""

_BINDING: Final = frozenset(
    f"rbdgen_{word}" for word in ("bodies", "buffer", "dispatch", "lines", "stream", "threads")
)
"""The beginnings of macros in the C that binds a robot to Python."""

_BEGINNINGS: Final = frozenset({"kinetic", "potential"})
"""The beginnings of functions that end like another one: `kinetic_regressor` could be a function of any robot
or the `regressor` of a robot called `kinetic`.
"""

LOCAL: Final = frozenset(
    """
    DISPATCH all_finite bits block count differ draw draw_angles draw_attitude draw_inertia draw_near
    draw_nonnegative draw_range failed first forget hash i job k nbodies nq nv real result run same series
    state states std stream view word wrong
    """.split()  # noqa: SIM905
)
"""The names in the templates other than the arguments of a function."""

OF_ROLLOUTS: Final = frozenset(
    """
    applied controls gain gains given j last n off own per_step row scheme states step steps sum to
    """.split()  # noqa: SIM905
)
"""The names in rollouts, and in calls of them from Python, other than the arguments of a step."""

_MADE: Final = re.compile(
    r"(lanes_of|many|expected|near)_\w+|\w+_(step|each|block|fails|before|now|then|[0-9]+)", re.ASCII
)
"""Names that emission derives from an argument or a function."""


LOCAL_ARRAYS: Final = ("angle", "sine", "cosine", "workspace", "tile")
"""The arrays that bodies of functions declare."""

_VARIABLES: Final = re.compile("|".join(("t[0-9]+", *LOCAL_ARRAYS)), re.ASCII)
"""The local variables of bodies of functions."""

_SHARED: Final = re.compile(r"sincos(_\w+)?|(math|lanes)_\w+|(batch_)?selftest|vbits|vreal|calls", re.ASCII)
"""The names, without the robot's, of code that the functions of a robot share."""

_OF_LIBRARIES: Final = frozenset(
    """
    anchor base_parameters casadi check_states contacts content difference folder frames
    full_configuration functions idx_q idx_v inertial_parameters integrate jax joint_names library
    limit_memory manifest manifold name nbodies neutral normalize nq nv parameters plausible random
    release_memory rollout show torch
    """.split()  # noqa: SIM905  (a list would take a screen)
)
"""The attributes of loaded libraries and of generated packages besides their functions."""

_OF_CPP: Final = frozenset(
    {"at", "detail", "many", "map", "matrix", "model", "series", "states", "table", "view"}
)
"""The names in the C++ header besides those of functions."""


def is_a_variable(name: str) -> bool:
    """Whether bodies of functions declare a variable of this name."""
    return _VARIABLES.fullmatch(name) is not None


def hides_the_package(name: str) -> bool:
    """Whether a function of this name would hide an attribute of libraries, or code that functions share."""
    lower = name.lower()
    return lower in _OF_LIBRARIES | _OF_CPP or lower.startswith("_") or _SHARED.fullmatch(lower) is not None


def hides_the_system(name: str) -> bool:
    """Whether `<name>.h` hides a header (in upper or lower case), or C or its library needs the word."""
    lower = name.lower()
    header = lower in _HEADERS or re.fullmatch(r"\w*intrin", lower) is not None
    return header or lower in _BINDING | _BEGINNINGS or _of_the_library(name)


def hides_the_function(name: str) -> bool:
    """Whether an argument of this name would hide a variable, function or type in the emitted C."""
    made = _MADE.fullmatch(name) is not None or name.lower().startswith(("_", "rbdgen_"))
    return made or name in LOCAL or _of_the_library(name)


def _of_the_library(name: str) -> bool:
    return name in _GLOBAL or name in _MACROS or name.endswith("_t")
