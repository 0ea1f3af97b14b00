import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POLYGLOTS } from '../engine/readers/hostile-pictures.js'
import { bodyOf, startEdge, type TestEdge } from '../helpers/daemon.js'
import { ADA, ingest } from '../helpers/engine.js'

let edge: TestEdge
let base = ''
let items: { id: string; metadata?: object }[] = []

const get = (item: string, query = '') =>
  edge.send('GET', `${base}/${encodeURIComponent(item)}/asset${query}`, { token: edge.tokens.ada })

/** Whether a request is refused as unknown or malformed. */
const refused = async (asked: Promise<Response>) => {
  const { status } = await asked
  return status === 404 || status === 400
}

beforeAll(async () => {
  edge = await startEdge()
  const space = await edge.engine.spaces.create(ADA, { name: 'Pictures', slug: 'pictures' })
  const images = Object.values(POLYGLOTS).map(
    ({ bytes }) => `<img alt="x" src="data:image/png;base64,${bytes.toString('base64')}">`,
  )
  const [document] = await ingest(edge.engine, ADA, space.id, {
    'page.html': `<h1>Pictures</h1><p>Some text.</p>${images.join('')}`,
  })
  base = `/knowledge-spaces/${space.id}/documents/${document?.asset.id}/multimodal`
  const manifest = await edge.send('GET', base, { token: edge.tokens.ada })
  items = (await bodyOf<{ items: typeof items }>(manifest)).items
})
afterAll(async () => await edge.end())

describe('the picture route', () => {
  it('A42: serves every picture as an attachment of type application/octet-stream, never as a page', async () => {
    let served = 0
    for (const { id } of items) {
      const response = await get(id)
      if (response.status !== 200) continue
      served += 1
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment',
        'x-content-type-options': 'nosniff',
      })
      await response.arrayBuffer()
    }
    expect(served).toBe(Object.keys(POLYGLOTS).length)
  })

  it('A32: finds a picture by its item id only; unknown variants and malformed ids are refused', async () => {
    const [own = ''] = items.map(({ id }) => id)
    expect((await get(own)).status).toBe(200)
    expect((await get(own, '?variant=original')).status).toBe(200)
    const names = [
      '..',
      '....',
      '../../../db/main.sqlite',
      `../${own}`,
      `${own}/..`,
      './',
      '/etc/passwd',
      `${own}\u0000`,
    ]
    names.push('a/'.repeat(512), 'é'.repeat(512), '\u202e', '%2e%2e', '..\\..\\db', `\${x}`, "' OR 1=1 --", '__proto__')
    names.push('x'.repeat(2000))
    for (const name of names) expect([name, await refused(get(name))]).toEqual([name, true])
    const variants = ['..', '....', 'a', 'original.', 'ORIGINAL', 'constructor', '__proto__']
    variants.push('a/b', '../original', 'é', '%00', 'original%0a', 'a'.repeat(2000))
    for (const variant of variants)
      expect([variant, await refused(get(own, `?variant=${variant}`))]).toEqual([variant, true])
    expect(JSON.stringify(edge.log)).not.toMatch(/SQLITE|ENOENT|sqlite/)
  })
})
