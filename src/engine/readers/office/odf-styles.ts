import type { Attributes } from '../markup/markup-events.js'

/** Converts the styles of an OpenDocument text to CSS for the HTML reader. */
export class OdfStyles {
  readonly #css = new Map<string, string>()
  #style = ''

  /** Handles the start of a style or of its properties. */
  open(name: string, attributes: Attributes): void {
    if (name === 'style:style') {
      this.#style = attributes.get('style:name') ?? ''
      const parent = this.#css.get(attributes.get('style:parent-style-name') ?? '')
      if (parent !== undefined) this.#css.set(this.#style, parent)
    }
    if (name !== 'style:text-properties' || this.#style === '') return
    const css = [
      ['font-weight', attributes.get('fo:font-weight')],
      ['font-style', attributes.get('fo:font-style')],
      ['font-size', attributes.get('fo:font-size')],
      ['text-decoration', toTextDecoration(attributes.get('style:text-underline-style'))],
    ].flatMap(([property, value]) =>
      value !== undefined && /^[\w.%]{1,20}$/.test(value) ? [`${property}:${value}`] : [],
    )
    if (css.length > 0) this.#css.set(this.#style, [this.#css.get(this.#style) ?? '', ...css].filter(Boolean).join(';'))
  }

  /** The `style` attribute for an element; empty when the style has no CSS. */
  attribute(style: string | undefined): string {
    const css = this.#css.get(style ?? '')
    return css === undefined ? '' : ` style="${css}"`
  }
}

function toTextDecoration(style: string | undefined): string | undefined {
  return style === undefined || style === 'none' ? undefined : 'underline'
}
