import { KsError } from '../../../contract/errors.js'
import { analyzeDocument } from '../../../lib/text/analyze.js'
import type { EngineContext } from '../../library/index.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import type { BuiltWork } from './work.js'

const SAMPLE_DOCUMENTS = 2 // documents of a large batch that are tested; batches share one commit of the index
const MAX_TERMS = 12
const MAX_CHARACTERS = 400

/**
 * Checks that new content is found by its own terms. @throws KsError `internal` when the index lacks what it accepted
 */
export async function smokeTest(context: EngineContext, space: SpaceRow, built: BuiltWork[]): Promise<void> {
  const withNodes = built.filter((item) => item.nodes.length > 0)
  const stride = Math.max(1, Math.floor(withNodes.length / SAMPLE_DOCUMENTS))
  for (let index = 0; index < withNodes.length; index += stride) {
    const item = withNodes[index]
    const node = item?.nodes[0]
    if (item === undefined || node === undefined) continue
    const terms = pickTerms(node.title, node.text)
    if (terms.length === 0) continue
    const found = await context.indexes.search(space.id, { terms, textK: 1, vectorK: 0, docs: [item.document.key] })
    if (found.hits.length === 0 && found.degraded.length === 0)
      throw new KsError(
        'internal',
        `the text index does not find ${JSON.stringify(item.document.filename)} by its own terms`,
      )
  }
}

/** Terms of a beginning as the index has them, so that a document of stop words alone is not tested. */
function pickTerms(title: string, text: string): string[] {
  const terms = analyzeDocument(`${title} ${text.slice(0, MAX_CHARACTERS)}`)
  if (text.length > MAX_CHARACTERS) terms.pop() // a word may have been truncated
  return [...new Set(terms)].slice(0, MAX_TERMS)
}
