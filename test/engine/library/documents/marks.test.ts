import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { encodePng } from '../../../helpers/png.js'
import { makePdf, scansOf, sheetOf } from '../../readers/render/make-pdf.js'

const TIMEOUT_MS = 180_000
const FIRST = ['# Harbour', 'Mooring costs nine crowns a night.', 'The crane lifts forty tons.']
const SECOND = ['Ida Keller repairs the crane.', 'Its light is seen from far away.']

interface Told {
  pageNumber: number
  width: number
  height: number
  boxes: { x: number; y: number; width: number; height: number }[]
}

let test: TestEngine
let spaceId: string

beforeAll(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
})
afterAll(() => test.end())

async function upload(name: string, bytes: Uint8Array | string) {
  const [accepted] = await ingest(test.engine, ADA, spaceId, { [name]: bytes })
  const id = accepted?.asset.id ?? ''
  const { elements } = await test.engine.documents.parseArtifact(ADA, spaceId, id, 1).then((body) => body.value())
  const text = (part: string) => {
    const metadata: Record<string, unknown> = elements.find((element) => element.text?.includes(part))?.metadata ?? {}
    return { from: Number(metadata.startOffset), to: Number(metadata.endOffset) }
  }
  const marks = async (item: string, { from, to }: { from: number; to: number }, caller = ADA): Promise<Told> => {
    const asset = await test.engine.documents.itemAsset(caller, spaceId, {
      documentId: id,
      itemId: item,
      variant: `marks=${from}-${to}`,
    })
    expect(asset.contentType).toBe('application/json')
    return JSON.parse(Buffer.from(asset.bytes).toString())
  }
  return { id, text, marks }
}

describe('the highlights of a passage', { timeout: TIMEOUT_MS }, () => {
  it('appear on each page with its text, and on no other', async () => {
    const { text, marks } = await upload('harbour.pdf', makePdf([sheetOf(FIRST), sheetOf(SECOND), sheetOf(['Fees'])]))
    const both = { from: text('Mooring').from, to: text('light is seen').to }
    expect(await marks('page-1', both)).toMatchObject({ pageNumber: 1, width: 595, height: 842 })
    expect((await marks('page-1', both)).boxes).toHaveLength(2)
    expect((await marks('page-2', both)).boxes).toHaveLength(2)
    expect((await marks('page-3', both)).boxes).toEqual([])
  })

  it('do not exist for other tenants, unknown pages and documents without drawn pages', async () => {
    const { marks } = await upload('harbour.pdf', makePdf([sheetOf(FIRST)]))
    const refused = { code: 'not-found' }
    await expect(marks('page-1', { from: 0, to: 9 }, BOB)).rejects.toMatchObject(refused)
    await expect(marks('page-9', { from: 0, to: 9 })).rejects.toMatchObject(refused)
    const plain = await upload('plain.md', '# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n')
    await expect(plain.marks('table-1', { from: 0, to: 9 })).rejects.toMatchObject(refused)
    await expect(
      test.engine.documents.itemAsset(ADA, spaceId, { documentId: plain.id, itemId: 'table-1', variant: 'marks=9' }),
    ).rejects.toMatchObject(refused)
  })

  it('appear on a scan and on a picture at the recognized text', async () => {
    const [scan] = await scansOf([sheetOf(FIRST)], 150)
    if (scan === undefined) throw new Error('nothing was drawn')
    const pdf = await upload('scan.pdf', makePdf([{ ...sheetOf(FIRST), picture: scan }]))
    const image = await upload('scan.png', encodePng(scan))
    const items = await test.engine.documents.multimodal(ADA, spaceId, image.id).then((body) => body.value())
    const picture = items.items.find(({ modality }) => modality === 'image')?.id ?? ''
    for (const [{ text, marks }, item] of [
      [pdf, 'page-1'],
      [image, picture],
    ] as const) {
      const { width, height, boxes } = await marks(item, text('Mooring costs'))
      expect(boxes.length, item).toBeGreaterThan(0)
      const [box] = boxes
      // Fractions of the shown page: the first line below a title, at the left margin.
      expect((box?.x ?? 0) / width, item).toBeCloseTo(72 / 595, 1)
      expect((box?.y ?? 0) / height, item).toBeGreaterThan((842 - 736) / 842 - 0.02)
      expect((box?.y ?? 0) / height, item).toBeLessThan(0.17)
    }
  })
})
