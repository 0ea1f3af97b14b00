import { basename, isAbsolute, normalize, sep } from 'node:path'

/** What to try in place of a path that does not exist. */
export function missingHint(path: string): string | undefined {
  if (path.includes('\ufffd')) return 'names that are not UTF-8 cannot be given: ingest their folder'
  if (/^https?:\/\//.test(path)) return `pages are a source: \`ks sources add NAME --uri ${path}\``
  return undefined
}

/** One file goes by its own name; several keep the folders they were given with, so that they stay apart. */
export function nameOf(path: string, oneOfMany: boolean): string {
  const tidy = normalize(path)
  const name = oneOfMany && !isAbsolute(tidy) && !tidy.startsWith('..') ? tidy : basename(tidy)
  return name.split(sep).join('/')
}
