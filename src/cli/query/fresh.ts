import { EXIT } from '../../contract/errors.js'
import { CliError } from '../cli-error.js'
import type { QueryAnswer } from './ask.js'

/** Lists documents of the evidence that differ from their current files, each once, with the reason. */
export function listStaleDocuments(answer: QueryAnswer): { filename: string; reason: string }[] {
  const stale = new Map<string, string>()
  for (const { freshness, file, filename } of answer.evidence) {
    if (freshness === 'stale') stale.set(filename, STALE_REASONS[file ?? ''] ?? 'a newer version is not published yet')
  }
  return [...stale].map(([filename, reason]) => ({ filename, reason }))
}

const STALE_REASONS: Readonly<Record<string, string>> = {
  changed: 'its file changed since it was ingested',
  gone: 'its file no longer exists',
}

const MAX_NAMED_DOCUMENTS = 5

/** @throws CliError exit 10 if any evidence is stale */
export function checkFresh(answer: QueryAnswer): void {
  const stale = listStaleDocuments(answer)
  if (stale.length === 0) return
  const names = stale.slice(0, MAX_NAMED_DOCUMENTS).map(({ filename, reason }) => `${filename} (${reason})`)
  const more = stale.length > MAX_NAMED_DOCUMENTS ? `, and ${stale.length - MAX_NAMED_DOCUMENTS} more` : ''
  throw new CliError(`the evidence is not fresh: ${names.join(', ')}${more}`, {
    code: 'stale-evidence',
    exit: EXIT.checkFailed,
    hint: '`ks watch add FOLDER` keeps a space in sync with a folder',
  })
}
