/**
 * Finds the compiled entry file of a child process or worker thread.
 *
 * Node 20 cannot run TypeScript, so a module that runs from `src` (under the test runner) starts its children from
 * `dist`. A compiled module starts the file in its own folder.
 *
 * @param base `import.meta.url` of the caller
 * @param relative path of the entry from the caller's folder, with its `.js` ending
 */
export function resolveEntryUrl(base: string, relative: string): URL {
  const url = new URL(relative, base)
  if (base.endsWith('.ts')) url.pathname = url.pathname.replace(/\/src\/(?!.*\/src\/)/, '/dist/')
  return url
}
