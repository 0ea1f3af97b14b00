import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCompiler } from '../../../src/engine/readers/compiler.js'
import { textOf } from './read.js'

const shared = process.env.KS_SHARED_DATA ?? resolve(import.meta.dirname, '../../../../shared/data')
const list = join(shared, 'mixed-docs-needles.jsonl')

/** Formats that are read today; others fail with a reason. */
const READ = new Set([
  'md',
  'txt',
  'html',
  'htm',
  'pdf',
  'docx',
  'doc',
  'ppt',
  'csv',
  'tsv',
  'xlsx',
  'pptx',
  'odt',
  'epub',
  'json',
  'ndjson',
  'xml',
  'rst',
  'org',
  'eml',
  'png',
  'jpg',
  'jpeg',
])

interface Needle {
  file: string
  format: string
  needle: string
  method: string
}

const bare = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase()

describe('known phrases in real documents', () => {
  const present = existsSync(list)
  if (!present) console.log(`skipped: ${list} is not there`)

  it.skipIf(!present)('occur in the text of their files (at least 95 %)', { timeout: 900_000 }, async () => {
    const lines = readFileSync(list, 'utf8').trim().split('\n')
    const needles: Needle[] = lines.map((line) => JSON.parse(line))
    const wanted = needles.filter((one) => READ.has(one.format))
    const files = [...new Set(wanted.map((one) => one.file))]
    const compiler = createCompiler({ children: 2 })
    const results = await compiler.compile(
      files.map((file) => ({
        path: join(shared, 'mixed-docs', file),
        filename: file.slice(file.lastIndexOf('/') + 1),
      })),
    )
    await compiler.close()
    const texts = new Map<string, string>()
    for (const [index, file] of files.entries()) {
      const result = results[index]
      texts.set(file, result?.ok === true ? bare(await textOf(result.document)) : '')
    }
    const byFormat: Record<string, { found: number; of: number }> = {}
    const missing: string[] = []
    for (const { file, format, needle } of wanted) {
      const counts = byFormat[format] ?? { found: 0, of: 0 }
      byFormat[format] = counts
      counts.of++
      if (texts.get(file)?.includes(bare(needle)) === true) counts.found++
      else missing.push(`${file}: ${needle}`)
    }
    console.table(byFormat)
    expect(missing.length / wanted.length, missing.join('\n')).toBeLessThanOrEqual(0.05)
  })
})
