import { basename, isAbsolute, normalize, sep } from 'node:path'

/** Hint for a path that does not exist. */
export function getMissingPathHint(path: string): string | undefined {
  if (path.includes('\ufffd')) return 'names that are not UTF-8 cannot be arguments: ingest their folder'
  if (/^https?:\/\//.test(path)) return `add web pages as a source: \`ks sources add NAME --uri ${path}\``
  return undefined
}

/** The name of one of several documents: its relative path, so that names differ; its base name if outside. */
export function toDocumentName(path: string): string {
  const normalized = normalize(path)
  const name = isAbsolute(normalized) || normalized.startsWith('..') ? basename(normalized) : normalized
  return name.split(sep).join('/')
}
