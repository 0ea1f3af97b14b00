import { describe, expect, it } from 'vitest'
import {
  embedTerms,
  embedText,
  inverseFrequency,
  type LsaModel,
  openModel,
} from '../../../../src/engine/models/builtin/lsa.js'
import { dominantBasis, orthonormalise } from '../../../../src/engine/models/builtin/lsa.kernel.js'
import { LsaCorpus } from '../../../../src/engine/models/builtin/lsa-corpus.js'
import { parseModel, serializeModel } from '../../../../src/engine/models/builtin/lsa-file.js'
import { toBufferPart } from '../../../helpers/bytes.js'
import { topicTexts } from './texts.js'

function trained(texts: string[]): LsaModel {
  const corpus = new LsaCorpus()
  for (const text of texts) corpus.add(text)
  const model = corpus.train()
  if (model === undefined) throw new Error('no model')
  return model
}

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  return (a ?? new Float32Array()).reduce((sum, value, i) => sum + value * (b?.[i] ?? 0), 0)
}

describe('latent semantic analysis', () => {
  const model = trained(topicTexts(80))
  const space = openModel(model)

  it('gives texts of one topic similar vectors although they share no word', () => {
    const one = embedText(space, 'piston valve')
    expect(cosine(one, embedText(space, 'exhaust crankshaft'))).toBeGreaterThan(0.4)
    expect(Math.abs(cosine(one, embedText(space, 'violin melody')))).toBeLessThan(0.2)
  })

  it('gives vectors of unit length, and no vector for texts of unknown words', () => {
    expect(cosine(embedText(space, 'river glacier'), embedText(space, 'river glacier'))).toBeCloseTo(1, 5)
    expect(embedText(space, 'unheard words')).toBeUndefined()
    expect(embedTerms(space, [])).toBeUndefined()
  })

  it('gives unknown terms the highest weight, and frequent terms the lowest', () => {
    const texts = topicTexts(40).map((text, i) => `${i < 30 ? 'common ' : ''}${i < 3 ? 'seldom ' : ''}${text}`)
    const other = openModel(trained(texts))
    const [unknown, seldom, common] = ['nowhere', 'seldom', 'common'].map((term) => inverseFrequency(other, term))
    expect(unknown).toBeGreaterThan(seldom)
    expect(seldom).toBeGreaterThan(common)
    expect(common).toBeGreaterThan(0)
  })

  it('uses at most a quarter of the number of texts as dimensions, and needs at least 30 texts', () => {
    expect(trained(topicTexts(40)).dimension).toBeLessThanOrEqual(10)
    const corpus = new LsaCorpus()
    for (const text of topicTexts(29)) corpus.add(text)
    expect(corpus.train()).toBeUndefined()
  })

  it('gives no model for texts that share no term', () => {
    const corpus = new LsaCorpus()
    for (let i = 0; i < 40; i++) corpus.add(`only${i}`)
    expect(corpus.train()).toBeUndefined()
  })

  it('trains on texts of which few share a term', () => {
    const corpus = new LsaCorpus()
    for (let i = 0; i < 40; i++) corpus.add(i < 10 ? 'alpha beta' : `gamma${i}`)
    const same = corpus.train()
    if (same === undefined) throw new Error('no model')
    const vector = embedText(openModel(same), 'alpha beta')
    expect(cosine(vector, vector)).toBeCloseTo(1, 5)
  })

  it('gives the same bytes for the same texts', () => {
    expect(serializeModel(trained(topicTexts(50)))).toEqual(serializeModel(trained(topicTexts(50))))
  })
})

describe('a serialized built-in model', () => {
  const model = trained(topicTexts(60))
  const bytes = serializeModel(model)

  it('parses back into the model that was serialized', () => {
    const read = parseModel(bytes)
    expect(read).toEqual(model)
    expect(embedText(openModel(read), 'piston')).toEqual(embedText(openModel(model), 'piston'))
  })

  it('can be parsed from bytes that share their buffer with other bytes', () => {
    expect(parseModel(toBufferPart(bytes))).toEqual(model)
  })

  it('fails to load when a byte is damaged, missing or added', () => {
    for (const at of [0, 5, 40, bytes.length >> 1, bytes.length - 1]) {
      const damaged = bytes.slice()
      damaged[at] = (damaged[at] ?? 0) ^ 0x10
      expect(() => parseModel(damaged)).toThrow(/cannot be used/)
    }
    expect(() => parseModel(bytes.slice(0, 100))).toThrow(/cannot be used/)
    expect(() => parseModel(new Uint8Array([...bytes, 0]))).toThrow(/cannot be used/)
    expect(() => parseModel(new Uint8Array())).toThrow(/cannot be used/)
  })
})

describe('the numeric core of latent semantic analysis', () => {
  it('finds the subspace of a low-rank matrix', () => {
    const rows = 40
    const columns = 12
    const start = Uint32Array.from({ length: rows + 1 }, (_, i) => i * columns)
    const column = Uint32Array.from({ length: rows * columns }, (_, i) => i % columns)
    // Rank 2: every row is a mix of two patterns.
    const value = Float32Array.from(column, (c, i) => {
      const row = Math.floor(i / columns)
      return Math.sin(row) * (c + 1) + Math.cos(row * 3) * (c % 3)
    })
    const basis = dominantBasis({ rows, columns, start, column, value }, 2, 7, 1)
    for (let row = 0; row < rows; row++) {
      const vector = value.subarray(row * columns, (row + 1) * columns)
      const projected = new Float64Array(columns)
      for (let k = 0; k < 2; k++) {
        let dot = 0
        for (let c = 0; c < columns; c++) dot += vector[c]! * basis[c * 2 + k]!
        for (let c = 0; c < columns; c++) projected[c]! += dot * basis[c * 2 + k]!
      }
      for (let c = 0; c < columns; c++) expect(projected[c]).toBeCloseTo(vector[c]!, 3)
    }
  })

  it('makes columns orthonormal and sets dependent columns to zero', () => {
    const rows = 30
    const m = Float32Array.from({ length: rows * 3 }, (_, i) => {
      const row = Math.floor(i / 3)
      return [Math.sin(row + 1), Math.cos(row * 2), 2 * Math.sin(row + 1)][i % 3]!
    })
    orthonormalise(m, rows, 3)
    const dot = (a: number, b: number): number => {
      let sum = 0
      for (let row = 0; row < rows; row++) sum += m[row * 3 + a]! * m[row * 3 + b]!
      return sum
    }
    expect(dot(0, 0)).toBeCloseTo(1, 5)
    expect(dot(1, 1)).toBeCloseTo(1, 5)
    expect(dot(0, 1)).toBeCloseTo(0, 5)
    expect(dot(2, 2)).toBeCloseTo(0, 5)
  })
})
