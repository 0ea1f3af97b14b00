import { toComparisonKey } from '../implied-headings.js'
import type { Block, Picture } from '../parsed.js'
import type { Attributes } from './markup-events.js'

const FILE_NAME = /^\S{1,200}\.(?:jpe?g|png|gif|webp|svg|avif)$/i
/** Maximum number of descriptions that are compared. */
const MAX_DESCRIPTIONS = 5000
/** A caption is within this many blocks after its picture. */
const MAX_CAPTION_DISTANCE = 2
/** Attributes with the address of a picture that a script loads later; `src` is empty or a placeholder until then. */
const LAZY_SOURCES = ['data-src', 'data-lazy-src', 'data-original', 'data-srcset', 'data-lazy-srcset', 'srcset']

/** The address or the bytes of an image. */
function getSource(attributes: Attributes): string {
  const source = attributes.get('src') ?? ''
  if (source !== '' && !/^data:image\/(?:gif|svg)/i.test(source)) return source
  for (const name of LAZY_SOURCES) {
    const [address = ''] = attributes.get(name)?.trim().split(/\s/, 1) ?? []
    if (address !== '' && !address.startsWith('data:')) return address
  }
  return source
}

/** The picture of an image, and its alternative text. */
interface HtmlImage {
  picture: Picture | undefined
  alt: string
  /** the alternative text if it is new in the page, otherwise empty */
  text: string
}

/**
 * Reads the images of a page. Each alternative text is used once, since pages repeat them in previews; the name of a
 * file is not used.
 */
export class ImageReader {
  readonly #parseSource: (source: string) => Picture | undefined
  readonly #known = new Set<string>()

  constructor(parseSource: (source: string) => Picture | undefined) {
    this.#parseSource = parseSource
  }

  read(attributes: Attributes): HtmlImage {
    const isHidden = attributes.get('aria-hidden') === 'true'
    const isTiny = Number(attributes.get('width') ?? 100) <= 2 || Number(attributes.get('height') ?? 100) <= 2
    const alt = isHidden ? '' : (attributes.get('alt')?.trim() ?? '')
    return { picture: isTiny ? undefined : this.#parseSource(getSource(attributes)), alt, text: this.#takeNewText(alt) }
  }

  #takeNewText(alt: string): string {
    const key = toComparisonKey(alt)
    if (this.#known.has(key) || FILE_NAME.test(alt)) return ''
    if (this.#known.size < MAX_DESCRIPTIONS) this.#known.add(key)
    return alt
  }
}

/** Moves alternative texts that the title or the caption of their picture repeats from the text to the metadata. */
export function moveRepeatedDescriptions(blocks: readonly Block[], title: string | undefined): void {
  const titleKey = toComparisonKey(title ?? '')
  for (const [index, block] of blocks.entries()) {
    if (block.type !== 'image' || block.text === '') continue
    const key = toComparisonKey(block.text)
    const isRepeated = blocks
      .slice(index + 1, index + 1 + MAX_CAPTION_DISTANCE)
      .some(({ type, text }) => type !== 'image' && toComparisonKey(text).includes(key))
    if (!isRepeated && !titleKey.includes(key)) continue
    block.metadata = { ...block.metadata, alt: block.text }
    block.text = ''
  }
}
