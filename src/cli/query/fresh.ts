import { EXIT } from '../../contract/errors.js'
import { CliError } from '../cli-error.js'
import type { Answer } from './ask.js'

/** Documents of the evidence that are not what their files are now, each once: filename and what is the matter. */
export function staleDocuments(answer: Answer): { filename: string; matter: string }[] {
  const stale = new Map<string, string>()
  for (const { freshness, file, filename } of answer.evidence) {
    if (freshness === 'stale') stale.set(filename, MATTERS[file ?? ''] ?? 'a newer version is not published yet')
  }
  return [...stale].map(([filename, matter]) => ({ filename, matter }))
}

const MATTERS: Readonly<Record<string, string>> = {
  changed: 'its file changed since it was ingested',
  gone: 'its file is gone',
}

const NAMED = 5

/** @throws CliError exit 10 when some of the evidence is stale */
export function requireFresh(answer: Answer): void {
  const stale = staleDocuments(answer)
  if (stale.length === 0) return
  const names = stale.slice(0, NAMED).map(({ filename, matter }) => `${filename} (${matter})`)
  const more = stale.length > NAMED ? `, and ${stale.length - NAMED} more` : ''
  throw new CliError(`the evidence is not fresh: ${names.join(', ')}${more}`, {
    code: 'stale-evidence',
    exit: EXIT.checkFailed,
    hint: '`ks watch add FOLDER` keeps a space at what a folder holds',
  })
}
