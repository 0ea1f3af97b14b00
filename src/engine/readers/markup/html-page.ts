import type { Block, Parser } from '../parsed.js'
import { extractArticle, mayHaveArticle } from './article.js'
import { feedReader, HtmlReader } from './html.js'
import { ArticleFilter, findArticle, type OmittedParts } from './readable-page.js'

/** Reads HTML of any quality in one pass, without building a tree. */
export const htmlParser: Parser = {
  async parse(input) {
    const source = input.text()
    const reader = new HtmlReader({ withAreas: mayHaveArticle(source) })
    feedReader(reader, source, 'html')
    const page = reader.finish()
    const getStyle = (block: Block) => reader.outline.styles.get(block)
    const omitted = reader.isArticle ? await findArticle((handler) => feedReader(handler, source, 'html')) : undefined
    const blocks = omitted === undefined ? extractArticle(source, page.blocks, getStyle) : readArticle(source, omitted)
    const kept = new Set(blocks)
    const leftOut = [...(page.leftOut ?? []), ...page.blocks.filter((block) => !kept.has(block))]
    return { ...page, blocks, leftOut, parser: 'native-html', contentType: 'text' }
  },
}

/** The blocks of a page without the parts that its article does not contain. */
function readArticle(source: string, omitted: OmittedParts): Block[] {
  const reader = new HtmlReader({})
  feedReader(new ArticleFilter(reader, omitted), source, 'html')
  return reader.finish().blocks
}
