import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'
import { until } from '../helpers/until.js'

const home = cliHome()
const fixture = (name: string) => readFileSync(fileURLToPath(new URL(`../fixtures/docs/${name}`, import.meta.url)))
const shown = async (document: string, ...more: string[]) => {
  const { code, stdout, stderr } = await home.ks(['docs', 'show', document, '-s', 'notes', ...more])
  expect(code, stderr).toBe(0)
  return { stdout, stderr }
}

beforeAll(async () => {
  home.file('notes/ferry.md', '# Ferry\n\nIt sails.\n\n| day | price |\n|---|---|\n| Monday | 9 |\n')
  home.file('notes/pictures.docx', fixture('contains-pictures.docx'))
  home.file('notes/list.pdf', fixture('list-item-example.pdf'))
  await home.ks(['spaces', 'create', 'Notes', '--slug', 'notes'])
  await home.ks(['ingest', 'notes', '-s', 'notes', '--wait'])
}, 120_000)
afterAll(() => home.end())

describe('ks docs show --as', () => {
  it('prints the same text as `ks read` of the file', async () => {
    for (const form of ['markdown', 'text', 'outline', 'tables']) {
      const { stdout } = await home.ks(['read', 'notes/ferry.md', '--as', form])
      expect((await shown('ferry.md', '--as', form)).stdout, form).toBe(stdout)
    }
    expect((await shown('list.pdf', '--as', 'pages')).stdout).toMatch(/^--- page 1 ---\n/)
    const none = await shown('ferry.md', '--as', 'pages')
    expect(none).toEqual({ stdout: '', stderr: 'The document has no pages: its format has none.\n' })
  })

  it('prints each form as JSON with --json', async () => {
    const value = async (document: string, form: string) =>
      JSON.parse((await shown(document, '--as', form, '--json')).stdout)
    expect(await value('ferry.md', 'tables')).toMatchObject([
      {
        headerRows: 1,
        rows: [
          ['day', 'price'],
          ['Monday', '9'],
        ],
      },
    ])
    expect(await value('ferry.md', 'text')).toEqual({ text: expect.stringContaining('It sails.') })
    expect(await value('ferry.md', 'outline')).toMatchObject([{ title: 'Ferry' }])
    expect((await value('list.pdf', 'pages'))[0]).toMatchObject({ pageNumber: 1 })
  })

  it('lists pictures with the names by which they can be fetched', async () => {
    const pictures = JSON.parse((await shown('pictures.docx', '--as', 'pictures', '--json')).stdout)
    expect(pictures[0]).toMatchObject({ id: 'image-1', contentType: 'image/png', sizeBytes: expect.any(Number) })
    const { stderr } = await shown('pictures.docx', '--as', 'pictures')
    expect(stderr).toMatch(/hint: `ks docs show '#[0-9a-f]{8}' --item ITEM -o FILE` saves one/)
    const [, id = ''] = /'(#[0-9a-f]{8})'/.exec(stderr) ?? []
    expect(await home.ks(['docs', 'show', id, '--item', pictures[0].id, '-s', 'notes', '-o', 'one.png'])).toMatchObject(
      {
        code: 0,
      },
    )
    expect(readFileSync(`${home.dir}/one.png`).byteLength).toBe(pictures[0].sizeBytes)
  })

  it('prints the metadata of the document if --as is not given', async () => {
    expect(JSON.parse((await shown('ferry.md', '--json')).stdout)).toMatchObject({ parserStatus: 'parsed' })
  })
})

it('ks jobs and ks docs show print the current page while a file is read', { timeout: 180_000 }, async () => {
  await home.ks(['daemon', 'stop'])
  const env = { KS_FAULT: 'parse' }
  home.file('slow/ks-fault-work-6000.md', '# Slow\n\nA long file.\n')
  await home.ks(['ingest', 'slow', '-s', 'notes'], { env })
  let listed = ''
  await until(async () => {
    listed = (await home.ks(['jobs', 'notes', '--state', 'reading', '--format', 'table'], { env })).stdout
    return /page \d of 7/.test(listed)
  }, 120_000)
  const { stderr } = await shown('slow/ks-fault-work-6000.md')
  // A fast machine may have finished reading.
  expect(stderr).toMatch(/^(Being parsed: page \d of 7\.\n)?$/)
})
