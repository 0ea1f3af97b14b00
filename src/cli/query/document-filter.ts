import * as Flags from '@oclif/core/flags'
import type { DocumentFilter } from '../../contract/gateway/document-filter.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { usageError } from '../cli-error.js'

/** Flags of commands that filter documents by their metadata. */
export const filterFlags = {
  since: Flags.string({ helpValue: 'date', description: 'only documents dated on or after this day' }),
  until: Flags.string({ helpValue: 'date', description: 'only documents dated on or before this day' }),
  author: Flags.string({ helpValue: 'name', description: 'only documents whose author contains this name' }),
  language: Flags.string({ helpValue: 'code', description: 'only documents in this language, such as en' }),
}

type DocumentFilterFlags = { [name in keyof typeof filterFlags]?: string | undefined }

/** Converts the flags to a filter; `undefined` without any. @throws CliError exit 2 for an invalid date or language */
export function toDocumentFilter({ since, until, author, language }: DocumentFilterFlags): DocumentFilter | undefined {
  if (language !== undefined && !/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}$/.test(language))
    throw usageError(`--language must be a code such as en or pt-BR, received ${JSON.stringify(language)}`)
  if (author?.trim() === '') throw usageError('--author is empty')
  const filter = omitUndefined({
    dateFrom: parseDate(since, '--since'),
    dateTo: parseDate(until, '--until'),
    author,
    language,
  })
  return Object.keys(filter).length === 0 ? undefined : filter
}

function parseDate(text: string | undefined, flag: string): string | undefined {
  if (text === undefined) return undefined
  const trimmed = text.trim()
  const fullDate = /^\d{4}$/.test(trimmed) ? `${trimmed}-${flag === '--since' ? '01-01' : '12-31'}` : trimmed
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(fullDate)
  const isInstant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/.test(fullDate)
  const time = Date.parse(fullDate)
  // Date.parse accepts 2024-02-31 as a day of March.
  const exists = !Number.isNaN(time) && (!isDay || new Date(time).toISOString().startsWith(fullDate))
  if ((isDay || isInstant) && exists) return fullDate
  throw usageError(
    `${flag} must be a year, a day such as 2024-03-05, or an instant with its offset, received ${JSON.stringify(text)}`,
  )
}
