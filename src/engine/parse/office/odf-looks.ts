import type { Attributes } from '../markup/markup-events.js'

/** Converts the styles of an OpenDocument text to CSS for the HTML reader. */
export class OdfLooks {
  readonly #looks = new Map<string, string>()
  #style = ''

  /** Handles the start of a style or of its properties. */
  open(name: string, attributes: Attributes): void {
    if (name === 'style:style') {
      this.#style = attributes.get('style:name') ?? ''
      const parent = this.#looks.get(attributes.get('style:parent-style-name') ?? '')
      if (parent !== undefined) this.#looks.set(this.#style, parent)
    }
    if (name !== 'style:text-properties' || this.#style === '') return
    const css = [
      ['font-weight', attributes.get('fo:font-weight')],
      ['font-style', attributes.get('fo:font-style')],
      ['font-size', attributes.get('fo:font-size')],
      ['text-decoration', lined(attributes.get('style:text-underline-style'))],
    ].flatMap(([property, value]) =>
      value !== undefined && /^[\w.%]{1,20}$/.test(value) ? [`${property}:${value}`] : [],
    )
    if (css.length > 0)
      this.#looks.set(this.#style, [this.#looks.get(this.#style) ?? '', ...css].filter(Boolean).join(';'))
  }

  /** The `style` attribute for an element; empty when the style has no CSS. */
  attribute(style: string | undefined): string {
    const css = this.#looks.get(style ?? '')
    return css === undefined ? '' : ` style="${css}"`
  }
}

function lined(style: string | undefined): string | undefined {
  return style === undefined || style === 'none' ? undefined : 'underline'
}
