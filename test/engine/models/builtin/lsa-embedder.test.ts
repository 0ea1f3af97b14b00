import { afterAll, describe, expect, it } from 'vitest'
import { LsaEmbedder } from '../../../../src/engine/models/builtin/lsa-embedder.js'
import { trainLsa } from '../../../../src/engine/models/builtin/lsa-trainer.js'
import { topicTexts } from './texts.js'

function batchesOf(texts: string[]): string[][] {
  return Array.from({ length: Math.ceil(texts.length / 16) }, (_, i) => texts.slice(i * 16, (i + 1) * 16))
}

async function trainedBytes(count: number): Promise<Uint8Array> {
  const model = await trainLsa(batchesOf(topicTexts(count)))
  if (model === undefined) throw new Error('no model')
  return model.bytes
}

describe('the thread that trains a built-in model', () => {
  it('trains a model from batches of texts', async () => {
    const model = await trainLsa(batchesOf(topicTexts(60)))
    expect(model).toMatchObject({ documents: 60, dimension: 15 })
  })

  it('returns no model for too few texts', async () => {
    expect(await trainLsa(batchesOf(topicTexts(10)))).toBeUndefined()
    expect(await trainLsa([])).toBeUndefined()
  })

  it('stops when its caller aborts', async () => {
    const controller = new AbortController()
    async function* endless(): AsyncGenerator<string[]> {
      for (let i = 0; ; i++) {
        if (i === 3) controller.abort(new Error('enough'))
        yield topicTexts(4)
      }
    }
    await expect(trainLsa(endless(), controller.signal)).rejects.toThrow('enough')
  })

  it('fails with the error of the source of its texts', async () => {
    async function* failing(): AsyncGenerator<string[]> {
      yield topicTexts(4)
      throw new Error('no more rows')
    }
    await expect(trainLsa(failing())).rejects.toThrow('no more rows')
  })
})

describe('the thread that embeds with a built-in model', () => {
  const embedding = new LsaEmbedder()
  afterAll(() => embedding.close())

  it('embeds documents and queries of a loaded model, in order', async () => {
    const facts = await embedding.load('a', await trainedBytes(60))
    expect(embedding.has('a')).toBe(true)
    expect(facts).toMatchObject({ dimension: 15, documents: 60 })
    const { vectors } = await embedding.embed('a', ['piston valve', 'unheard', 'violin tempo'], 'document')
    expect(vectors.map((vector) => vector?.length)).toEqual([15, undefined, 15])
    const [query] = (await embedding.embed('a', ['what is a piston valve?'], 'query')).vectors
    expect(Array.from(query ?? [])).toEqual(Array.from(vectors[0] ?? []))
  })

  it('returns higher weights for rarer terms', async () => {
    const weights = await embedding.idf('a', ['piston', 'nowhere', 'piston'])
    expect([...weights.keys()]).toEqual(['piston', 'nowhere'])
    expect(weights.get('nowhere')).toBeGreaterThan(weights.get('piston') ?? 0)
  })

  it('lets a query overtake documents', async () => {
    const order: string[] = []
    const many = Array.from({ length: 20 }, () => topicTexts(200)).flat()
    const documents = embedding.embed('a', many, 'document').then(() => order.push('documents'))
    const query = embedding.embed('a', ['piston'], 'query').then(() => order.push('query'))
    await Promise.all([documents, query])
    expect(order).toEqual(['query', 'documents'])
  })

  it('rejects damaged models, and requests to models that are not loaded', async () => {
    await expect(embedding.embed('b', ['x'], 'query')).rejects.toMatchObject({ code: 'internal' })
    await expect(embedding.load('b', new Uint8Array(100))).rejects.toThrow(/cannot be used/)
    expect(embedding.has('b')).toBe(false)
  })

  it('unloads a model after its earlier requests', async () => {
    await embedding.load('c', await trainedBytes(40))
    const asked = embedding.embed('c', topicTexts(300), 'document')
    embedding.unload('c')
    expect((await asked).vectors).toHaveLength(300)
    await expect(embedding.embed('c', ['piston'], 'query')).rejects.toThrow(/not loaded/)
  })

  it('rejects waiting requests when it is closed', async () => {
    const other = new LsaEmbedder()
    await other.load('a', await trainedBytes(40))
    const asked = other.embed('a', topicTexts(3000), 'document')
    await Promise.all([expect(asked).rejects.toMatchObject({ code: 'unavailable' }), other.close()])
    await expect(other.embed('a', ['x'], 'query')).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('embedding with a built-in model in several threads', () => {
  const embedding = new LsaEmbedder(2)
  afterAll(() => embedding.close())

  it('gives the same vectors as one thread, in the configured number of threads', async () => {
    const one = new LsaEmbedder()
    const bytes = await trainedBytes(60)
    const texts = topicTexts(40)
    const threads = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length
    const before = threads()
    await Promise.all([embedding.load('a', bytes), one.load('a', bytes)])
    const asked = [embedding.embed('a', texts, 'document'), embedding.embed('a', texts, 'document')]
    const running = threads() - before
    const single = await one.embed('a', texts, 'document')
    for (const { vectors } of await Promise.all(asked)) expect(vectors).toEqual(single.vectors)
    expect([embedding.threads, one.threads]).toEqual([2, 1])
    expect(running).toBe(2)
    await one.close()
  })

  it('offers a model only if all threads have loaded it, and unloads it in all threads', async () => {
    expect(embedding.has('a')).toBe(true)
    await expect(embedding.load('b', new Uint8Array(100))).rejects.toThrow(/cannot be used/)
    expect(embedding.has('b')).toBe(false)
    embedding.unload('a')
    expect(embedding.has('a')).toBe(false)
    for (let place = 0; place < 2; place++)
      await expect(embedding.embed('a', ['piston'], 'document')).rejects.toThrow(/not loaded/)
  })
})
