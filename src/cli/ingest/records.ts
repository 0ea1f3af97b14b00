import { formatCount, pluralize } from '../../lib/text/pluralize.js'
import { formatMachineCell } from '../columns.js'
import { getConfigurationHint } from '../configuration-hint.js'
import type { IngestRecord, IngestStatus } from '../json-output/documents.js'
import type { Output } from '../output.js'
import { ttyLine, ttyName } from '../terminal.js'

const INGEST_STATUSES: readonly IngestStatus[] = ['queued', 'published', 'unchanged', 'skipped', 'failed']

const MAX_SHOWN_NAMES = 5

/** Prints records in the order of the files, each once all records before it are available. */
export class RecordPrinter {
  readonly all: IngestRecord[] = []
  private readonly records: (IngestRecord | undefined)[] = []
  private readonly out: Output | undefined
  private nextIndex = 0

  /** @param out absent: records are collected, not printed */
  constructor(out: Output | undefined) {
    this.out = out
  }

  set(index: number, record: IngestRecord): void {
    this.records[index] = record
    for (;;) {
      const next = this.records[this.nextIndex]
      if (next === undefined) return
      this.records[this.nextIndex] = undefined
      this.nextIndex += 1
      this.print(next)
    }
  }

  /** Prints the remaining records; the missing ones before them will not follow. */
  flush(): void {
    for (const record of this.records) if (record !== undefined) this.print(record)
    this.nextIndex = this.records.length
  }

  private print(record: IngestRecord): void {
    this.all.push(record)
    if (this.out?.format === 'jsonl') {
      this.out.event('ingest.file', record)
    } else if (this.out?.format === 'tsv') {
      const values = [record.status, record.filename, record.documentId ?? '', record.reason ?? '']
      this.out.raw(`${values.map((value) => formatMachineCell(value)).join('\t')}\n`)
    }
  }
}

/**
 * `212 files: 12 queued, 200 unchanged; 3 of them were retried`
 *
 * @param unsentCount number of files without a record, because the ingest ended before
 */
export function formatSummary(records: readonly IngestRecord[], unsentCount = 0): string {
  const parts = INGEST_STATUSES.flatMap((status) => {
    const count = records.filter((record) => record.status === status).length
    return count === 0 ? [] : `${count} ${status}`
  })
  if (unsentCount > 0) parts.push(`${unsentCount} not sent`)
  const retriedCount = records.filter((record) => record.retried).length
  const retryText = retriedCount === 0 ? '' : `; ${retriedCount} of them ${retriedCount === 1 ? 'was' : 'were'} retried`
  return parts.length === 0
    ? 'nothing to ingest'
    : `${pluralize(records.length + unsentCount, 'file')}: ${parts.join(', ')}${retryText}`
}

/** Groups names by reason, the largest group first, with at most five names each. */
export function groupByReason(records: readonly IngestRecord[]): string[] {
  const groups = new Map<string, string[]>()
  for (const { reason = 'no reason given', filename } of records) {
    const reasonText = removeNamePrefix(reason, filename)
    groups.set(reasonText, [...(groups.get(reasonText) ?? []), filename])
  }
  return [...groups]
    .sort((a, b) => b[1].length - a[1].length)
    .map(([reason, names]) => {
      const more = names.length > MAX_SHOWN_NAMES ? `, and ${formatCount(names.length - MAX_SHOWN_NAMES)} more` : ''
      return `  ${ttyLine(`${reason}: ${names.slice(0, MAX_SHOWN_NAMES).map(ttyName).join(', ')}${more}`)}`
    })
}

/** Prints a note for each of the first skipped files, the number of the others, and which setting would let them be read. */
export function printSkipped(
  out: Output,
  skipped: readonly { filename: string; reason?: string }[],
  service: { isLocal: boolean },
): void {
  for (const { filename, reason = '' } of skipped.slice(0, MAX_SHOWN_NAMES))
    out.note(`skipped ${ttyName(filename)}: ${reason}`)
  if (skipped.length > MAX_SHOWN_NAMES) out.note(`skipped ${formatCount(skipped.length - MAX_SHOWN_NAMES)} more`)
  const hint = getConfigurationHint(skipped.map(({ reason = '' }) => reason).join('\n'), service)
  if (hint !== undefined) out.note(`hint: ${hint}; \`ks docs reindex\` reads the files that the space has`)
}

/** Removes the file's name from the start of a reason, so that equal reasons of several files form one group. */
export function removeNamePrefix(reason: string, filename: string): string {
  for (const name of [filename, filename.split('/').at(-1) ?? filename]) {
    for (const start of [`${name} `, `${name}: `, `"${name}" `, `"${name}": `]) {
      if (reason.startsWith(start)) return reason.slice(start.length)
    }
  }
  return reason
}
