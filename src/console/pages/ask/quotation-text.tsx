import type { AnswerQuotation } from '../../../contract/gateway/queries.js'
import { splitQuotation } from './quoted-passages.js'

interface QuotationTextProps extends Pick<AnswerQuotation, 'blocks'> {
  text: string
  /** @param number of the evidence item, from 1 */
  onCite: (number: number) => void
}

/** Renders an answer of quotations; the parts that probably answer the question are marked. */
export function QuotationText({ text, blocks, onCite }: QuotationTextProps) {
  return (
    <div className="answer" aria-live="polite">
      {splitQuotation(text, blocks).map(({ start, opening, cited, location, parts }) => (
        <section key={start}>
          {opening !== '' && <p>{opening}</p>}
          <p className="quotation-source">
            <button type="button" className="cite" aria-label={`Passage ${cited}`} onClick={() => onCite(cited)}>
              {cited}
            </button>{' '}
            {location}
          </p>
          <blockquote className="quotation">
            {parts.map(({ start: partStart, text: part, isMarked }) =>
              isMarked ? <mark key={partStart}>{part}</mark> : <span key={partStart}>{part}</span>,
            )}
          </blockquote>
        </section>
      ))}
    </div>
  )
}
