import { setImmediate as turn } from 'node:timers/promises'
import { openTextIndex } from '../../src/engine/search/open-text.js'
import type { TextIndex } from '../../src/engine/search/text-index.js'
import { analyzeDocument } from '../../src/lib/text/analyze.js'

const SLICE = 1000

/**
 * The project's text index over some texts, alone in this process; the n-th text has key n + 1 and is its own document.
 */
export async function bareTextIndex(dir: string, texts: readonly string[]): Promise<TextIndex> {
  const index = await openTextIndex({
    dir,
    engine: 'tantivy',
    ifMissing: 'create',
    log: () => undefined,
    watermarkLagMs: 0,
  })
  if (index === undefined) throw new Error('the text index was not made')
  for (let start = 0; start < texts.length; start += SLICE) {
    const nodes = texts.slice(start, start + SLICE).map((text, place) => ({
      key: start + place + 1,
      doc: start + place + 1,
      text: analyzeDocument(text).join(' '),
    }))
    await index.stage(nodes, [])
    await turn()
  }
  await index.commit(1)
  return index
}
