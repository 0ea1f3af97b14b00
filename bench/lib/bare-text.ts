import { setImmediate as waitForEventLoop } from 'node:timers/promises'
import { openTextIndex } from '../../src/engine/search/open-text.js'
import type { TextIndex } from '../../src/engine/search/text-index.js'
import { analyzeDocument } from '../../src/lib/text/analyze.js'

const BATCH_NODES = 1000

/** Builds a text index in this process; each text is a document, with its number from 1 as the key. */
export async function buildTextIndex(dir: string, texts: readonly string[]): Promise<TextIndex> {
  const index = await openTextIndex({
    dir,
    engine: 'tantivy',
    ifMissing: 'create',
    log: () => undefined,
    watermarkLagMs: 0,
  })
  if (index === undefined) throw new Error('the text index was not created')
  for (let start = 0; start < texts.length; start += BATCH_NODES) {
    const nodes = texts.slice(start, start + BATCH_NODES).map((text, index) => ({
      key: start + index + 1,
      doc: start + index + 1,
      text: analyzeDocument(text).join(' '),
    }))
    await index.stage(nodes, [])
    await waitForEventLoop()
  }
  await index.commit(1)
  return index
}
