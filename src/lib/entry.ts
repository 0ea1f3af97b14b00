/**
 * Where the compiled entry file of a child process or worker thread is.
 *
 * Node 20 cannot run TypeScript, so a module that runs from `src` (under the test runner) starts its
 * children from `dist`; a compiled module starts the file beside it.
 *
 * @param base `import.meta.url` of the caller
 * @param relative path of the entry beside the caller, with its `.js` ending
 */
export function entryUrl(base: string, relative: string): URL {
  const url = new URL(relative, base)
  if (base.endsWith('.ts')) url.pathname = url.pathname.replace(/\/src\/(?!.*\/src\/)/, '/dist/')
  return url
}
