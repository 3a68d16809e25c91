/**
 * Loads the module.
 *
 * @param source the address of the module (a string or a URL), its bytes, a `Response` of `fetch`, or a
 *     `WebAssembly.Module`; by default it is read from beside this file.
 * @param options `room` is the memory, in bytes, for the arrays of prepared calls (1 MiB by default).
 */
export function load(source?: string | object, options?: { readonly room?: number }): Promise<Robot>;
