import { cell } from '../columns.js'
import type { Output } from '../output.js'
import { ttyLine, ttyName } from '../terminal.js'
import { plural } from '../units.js'

export const STATUSES = ['queued', 'published', 'unchanged', 'skipped', 'failed'] as const
export type Status = (typeof STATUSES)[number]

/** What became of one file. */
export interface IngestRecord {
  filename: string
  status: Status
  documentId?: string
  jobId?: string
  /** its last compilation had failed or was canceled, and begins again */
  retried?: true
  /** why it was skipped or failed */
  reason?: string
  /** code of the service's refusal */
  code?: string
}

const SHOWN_NAMES = 5

/** Prints records in the order of the files, each as soon as it and those before it are known. */
export class RecordPrinter {
  readonly all: IngestRecord[] = []
  private readonly known: (IngestRecord | undefined)[] = []
  private readonly out: Output | undefined
  private next = 0

  /** @param out absent: records are kept and not printed */
  constructor(out: Output | undefined) {
    this.out = out
  }

  set(index: number, record: IngestRecord): void {
    this.known[index] = record
    for (;;) {
      const ready = this.known[this.next]
      if (ready === undefined) return
      this.known[this.next] = undefined
      this.next += 1
      this.print(ready)
    }
  }

  private print(record: IngestRecord): void {
    this.all.push(record)
    if (this.out?.format === 'jsonl') {
      this.out.event('ingest.file', record)
    } else if (this.out?.format === 'tsv') {
      const values = [record.status, record.filename, record.documentId ?? '', record.reason ?? '']
      this.out.raw(`${values.map((value) => cell(value)).join('\t')}\n`)
    }
  }
}

/** `212 files: 12 queued, 200 unchanged; 3 of them were tried again` */
export function summary(records: readonly IngestRecord[]): string {
  const parts = STATUSES.flatMap((status) => {
    const number = records.filter((record) => record.status === status).length
    return number === 0 ? [] : `${number} ${status}`
  })
  const retried = records.filter((record) => record.retried).length
  const again = retried === 0 ? '' : `; ${retried} of them ${retried === 1 ? 'was' : 'were'} tried again`
  return parts.length === 0 ? 'nothing to ingest' : `${plural(records.length, 'file')}: ${parts.join(', ')}${again}`
}

/** Names under their common reason, the largest group first, at most five names each. */
export function groupByReason(records: readonly IngestRecord[]): string[] {
  const groups = new Map<string, string[]>()
  for (const { reason = 'no reason given', filename } of records) {
    const general = withoutName(reason, filename)
    groups.set(general, [...(groups.get(general) ?? []), filename])
  }
  return [...groups]
    .sort((a, b) => b[1].length - a[1].length)
    .map(([reason, names]) => {
      const more = names.length > SHOWN_NAMES ? `, and ${names.length - SHOWN_NAMES} more` : ''
      return ttyLine(`  ${reason}: ${names.slice(0, SHOWN_NAMES).map(ttyName).join(', ')}${more}`).replace(/^/, '  ')
    })
}

/** A sentence that begins with the file's own name groups with the same sentence about other files. */
export function withoutName(reason: string, filename: string): string {
  for (const name of [filename, filename.split('/').at(-1) ?? filename]) {
    for (const start of [`${name} `, `${name}: `, `"${name}" `, `"${name}": `]) {
      if (reason.startsWith(start)) return reason.slice(start.length)
    }
  }
  return reason
}
