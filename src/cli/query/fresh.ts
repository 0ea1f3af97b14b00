import { EXIT } from '../../contract/errors.js'
import { CliError } from '../cli-error.js'
import type { Answer } from './ask.js'

/** Documents of the evidence that differ from their current files, each once, with the reason. */
export function staleDocuments(answer: Answer): { filename: string; matter: string }[] {
  const stale = new Map<string, string>()
  for (const { freshness, file, filename } of answer.evidence) {
    if (freshness === 'stale') stale.set(filename, MATTERS[file ?? ''] ?? 'a newer version is not published yet')
  }
  return [...stale].map(([filename, matter]) => ({ filename, matter }))
}

const MATTERS: Readonly<Record<string, string>> = {
  changed: 'its file changed since it was ingested',
  gone: 'its file no longer exists',
}

const NAMED = 5

/** @throws CliError exit 10 if any evidence is stale */
export function requireFresh(answer: Answer): void {
  const stale = staleDocuments(answer)
  if (stale.length === 0) return
  const names = stale.slice(0, NAMED).map(({ filename, matter }) => `${filename} (${matter})`)
  const more = stale.length > NAMED ? `, and ${stale.length - NAMED} more` : ''
  throw new CliError(`the evidence is not fresh: ${names.join(', ')}${more}`, {
    code: 'stale-evidence',
    exit: EXIT.checkFailed,
    hint: '`ks watch add FOLDER` keeps a space in sync with a folder',
  })
}
