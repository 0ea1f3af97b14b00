import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KnowledgeSpace } from '../../../../../src/contract/gateway/spaces.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../../helpers/fake-openai.js'
import { until } from '../../../../helpers/until.js'
import { picture } from '../../../readers/picture.js'
import { words } from '../../../readers/read.js'
import { makePdf } from '../../../readers/render/make-pdf.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'eyes' }
const MODEL = { ...PROVIDER, model: 'seer' }
const SEEN = `A bar chart of herring landings at Lerwick by quarter, highest in autumn. ${words(40, 'label')}`
const QUESTION = 'Which chart shows herring landings at Lerwick?'

const inline = (bytes: Buffer, alt = '') => `<img alt="${alt}" src="data:image/png;base64,${bytes.toString('base64')}">`
const page = (figure: string) =>
  `<h1>Harbour report</h1><p>${words(120)}</p>${figure}<p>Figure 1: Quarterly numbers</p><p>${words(120, 'more')}</p>`

let server: FakeOpenAi
let test: TestEngine
const configured = () => ({ providers: [{ ...PROVIDER, baseUrl: `${server.url}/v1` }], visionModel: MODEL })

beforeAll(async () => {
  server = await startFakeOpenAi({ answer: () => SEEN })
  test = await startEngine(configured())
})
afterAll(async () => {
  await test.end()
  await server.close()
})

async function spaceWith(
  files: Record<string, string | Uint8Array>,
  name = 'pictures',
): Promise<{ space: KnowledgeSpace; id: string }> {
  const space = await test.engine.spaces.create(ADA, { name, slug: name })
  const [document] = await ingest(test.engine, ADA, space.id, files)
  return { space, id: document?.asset.id ?? '' }
}

const itemsOf = async (space: string, id: string) =>
  (await test.engine.documents.multimodal(ADA, space, id).then((body) => body.value())).items
const isDescribed = async (space: string, id: string) =>
  (await itemsOf(space, id)).some(({ sourceMetadata }) => typeof sourceMetadata.description === 'string')

describe('pictures with a vision model', () => {
  it('reach it once, can be found by its description, and are cited as pictures', { timeout: 90_000 }, async () => {
    const { space, id } = await spaceWith({ 'report.html': page(inline(picture(1600, 900))) })
    await until(() => isDescribed(space.id, id))
    const asked = server.requests.filter(({ path }) => path.endsWith('/chat/completions'))
    expect(asked).toHaveLength(1)
    const [system, user] = asked[0]?.body.messages ?? []
    expect(system?.content).toMatch(/never an instruction/)
    expect(user?.content).toContain('Figure 1: Quarterly numbers')
    // It was downscaled before it was sent.
    expect(user?.images?.[0]).toMatch(/^data:image\/jpeg;base64,/)
    expect(asked[0]?.raw.length).toBeLessThan(400_000)
    const { done } = await ask(test.engine, ADA, space.id, QUESTION)
    const [best] = done.metadata?.evidenceBundle?.items ?? []
    expect(best?.text).toContain('herring landings at Lerwick')
    expect(best?.citations[0]?.items).toEqual([{ id: 'image-1', modality: 'image' }])
    expect(done.metadata?.metrics).toMatchObject({
      imageCandidateCount: 1,
      visualCandidateCount: 1,
      multimodalCandidateCount: 1,
      tableCandidateCount: 0,
    })
  })

  it('cost one request per picture, whichever documents contain it and however often they are compiled', {
    timeout: 90_000,
  }, async () => {
    const chart = picture(640, 480, 3)
    const { space, id } = await spaceWith({ 'a.html': page(inline(chart)) }, 'once')
    await until(() => isDescribed(space.id, id))
    const before = server.requests.length
    const [other] = await ingest(test.engine, ADA, space.id, { 'b.html': `<h2>Other</h2>${page(inline(chart))}` })
    await until(() => isDescribed(space.id, other?.asset.id ?? ''))
    await test.engine.documents.reindex(ADA, space.id, { documentIds: [id] })
    await until(async () => (await test.engine.documents.get(ADA, space.id, id)).version === 3)
    await until(async () => (await itemsOf(space.id, id)).length > 0 && (await isDescribed(space.id, id)))
    expect(server.requests.length).toBe(before)
  })

  it('wait for a failing model, which the status of the space reports, and are described after a restart', {
    timeout: 120_000,
  }, async () => {
    server.always({ kind: 'status', status: 503 })
    const { space, id } = await spaceWith({ 'a.html': page(inline(picture(500, 400, 5))) }, 'failing')
    await until(
      async () => (await test.engine.spaces.status(ADA, space.id)).index.pictures?.errorClass !== undefined,
      60_000,
    )
    // The document is published meanwhile.
    expect((await ask(test.engine, ADA, space.id, 'word3 word4')).done).toBeDefined()
    expect(await isDescribed(space.id, id)).toBe(false)
    server.always()
    await test.reopen()
    await until(() => isDescribed(space.id, id))
    expect((await test.engine.spaces.status(ADA, space.id)).index.pictures).toEqual({ described: 1, refused: 0 })
  })

  it('rejected by the model are not sent again, and count as refused in the status', { timeout: 90_000 }, async () => {
    server.always({ kind: 'status', status: 400 })
    const { space } = await spaceWith({ 'a.html': page(inline(picture(420, 400, 7))) }, 'refused')
    const pictures = async () => (await test.engine.spaces.status(ADA, space.id)).index.pictures
    await until(async () => (await pictures())?.refused === 1)
    server.always()
    const before = server.requests.length
    await test.reopen()
    await ingest(test.engine, ADA, space.id, { 'note.md': 'A note without pictures.' })
    await until(async () => (await test.engine.activity()).backgroundTasks === 0)
    expect(server.requests.length).toBe(before)
    expect(await pictures()).toEqual({ described: 0, refused: 1 })
  })
})

describe('pictures without a vision model', () => {
  it('never leave the machine', async () => {
    const { visionModel: _, ...without } = configured()
    const plain = await startEngine(without)
    const space = await plain.engine.spaces.create(ADA, { name: 'p', slug: 'p' })
    const before = server.requests.length
    await ingest(plain.engine, ADA, space.id, { 'a.html': page(inline(picture(640, 480), 'a chart of landings')) })
    await until(async () => (await plain.engine.activity()).backgroundTasks === 0)
    expect(server.requests.length).toBe(before)
    expect((await plain.engine.spaces.status(ADA, space.id)).index.pictures).toBeUndefined()
    const { done } = await ask(plain.engine, ADA, space.id, 'chart of landings')
    expect(done.metadata?.evidenceBundle?.items[0]?.citations[0]?.items).toMatchObject([{ modality: 'image' }])
    await plain.end()
  })
})

describe('the image variants of a picture', () => {
  it('have the sizes in the manifest, and other names fail with not-found', async () => {
    const { space, id } = await spaceWith({ 'v.html': page(inline(picture(1600, 900, 9))) }, 'variants')
    const [item] = await itemsOf(space.id, id)
    const variants = item?.assetRef?.variants ?? {}
    expect(variants).toEqual({
      thumbnail: { contentType: 'image/jpeg', width: 256, height: 144 },
      preview: { contentType: 'image/jpeg', width: 1024, height: 576 },
    })
    const { readPixelSize } = await import('../../../../../src/engine/readers/picture/size.js')
    for (const [name, { width, height }] of Object.entries(variants)) {
      const asset = await test.engine.documents.itemAsset(ADA, space.id, {
        documentId: id,
        itemId: 'image-1',
        variant: name,
      })
      expect(readPixelSize(asset.bytes), name).toEqual({ width, height })
    }
    const [paged] = await ingest(test.engine, ADA, space.id, {
      'p.pdf': makePdf([{ width: 600, height: 800, content: 'BT /F 12 Tf 60 700 Td (A page about nets.) Tj ET' }]),
    })
    const pdf = paged?.asset.id ?? ''
    const [onPage] = await itemsOf(space.id, pdf)
    expect(onPage).toMatchObject({ id: 'page-1', modality: 'page', pageNumber: 1 })
    for (const [name, side] of Object.entries({ thumbnail: 256, preview: 1024, page: 1600 })) {
      expect(Object.keys(onPage?.assetRef?.variants ?? {})).toContain(name)
      const asset = await test.engine.documents.itemAsset(ADA, space.id, {
        documentId: pdf,
        itemId: 'page-1',
        variant: name,
      })
      expect(readPixelSize(asset.bytes), name).toEqual({ width: (side * 3) / 4, height: side })
    }
    for (const name of ['page', 'large', '__proto__'])
      await expect(
        test.engine.documents.itemAsset(ADA, space.id, { documentId: id, itemId: 'image-1', variant: name }),
        name,
      ).rejects.toMatchObject({
        code: 'not-found',
      })
    await expect(
      test.engine.documents.itemAsset(BOB, space.id, { documentId: id, itemId: 'image-1', variant: 'preview' }),
    ).rejects.toMatchObject({
      code: 'not-found',
    })
  })
})
