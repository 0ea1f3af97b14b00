import './answer.css'
import { Fragment } from 'react'

interface AnswerTextProps {
  text: string
  isRunning: boolean
  /**
   * Number of evidence items. A higher bracketed number is text of a document, such as a reference in a paper. Without
   * it, all bracketed numbers are citations.
   */
  itemCount?: number
  /** @param number of the evidence item, from 1 */
  onCite: (number: number) => void
}

type CitationProps = Pick<AnswerTextProps, 'itemCount' | 'onCite'>

/** Citations such as `[2]` (the service writes each number in its own brackets), and Markdown emphasis and code. */
const INLINE_PATTERN = /(\[\d{1,3}\]|\*\*[^*\n]+\*\*|`[^`\n]+`)/

/**
 * Renders an answer: paragraphs, lists, headings and code. Builds elements and never parses markup, so that document
 * content cannot become part of the page.
 */
export function AnswerText({ text, isRunning, ...citations }: AnswerTextProps) {
  return (
    <div className="answer" aria-live="polite" aria-busy={isRunning}>
      {parseBlocks(text).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only appended
        <AnswerBlockView key={index} block={block} {...citations} />
      ))}
      {isRunning && <span className="answer-caret" aria-hidden="true" />}
    </div>
  )
}

type AnswerBlock =
  | { kind: 'text' | 'heading'; text: string }
  | { kind: 'code'; lines: string[] }
  | { kind: 'list'; isOrdered: boolean; items: string[] }

function AnswerBlockView({ block, ...citations }: CitationProps & { block: AnswerBlock }) {
  if (block.kind === 'code') return <pre className="answer-code">{block.lines.join('\n')}</pre>
  if (block.kind !== 'list') {
    const Tag = block.kind === 'heading' ? 'h3' : 'p'
    return (
      <Tag>
        <InlineMarkup text={block.text} {...citations} />
      </Tag>
    )
  }
  const List = block.isOrdered ? 'ol' : 'ul'
  return (
    <List className={block.isOrdered ? 'answer-ordered' : 'answer-list'}>
      {block.items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items are only appended
        <li key={index}>
          <InlineMarkup text={item} {...citations} />
        </li>
      ))}
    </List>
  )
}

function InlineMarkup({ text, itemCount = Number.POSITIVE_INFINITY, onCite }: CitationProps & { text: string }) {
  return text.split(INLINE_PATTERN).map((part, index) => {
    const key = `${index}-${part.length}`
    const number = Number(/^\[(\d+)\]$/.exec(part)?.[1] ?? 0)
    if (number > 0 && number <= itemCount)
      return (
        <button
          key={key}
          type="button"
          className="cite"
          aria-label={`Passage ${number}`}
          onClick={() => onCite(number)}
        >
          {number}
        </button>
      )
    if (part.startsWith('**') && part.endsWith('**') && part.length > 4)
      return <strong key={key}>{part.slice(2, -2)}</strong>
    if (part.startsWith('`') && part.endsWith('`') && part.length > 2) return <code key={key}>{part.slice(1, -1)}</code>
    return <Fragment key={key}>{part}</Fragment>
  })
}

/** Splits an answer into blocks, at empty lines and by the first characters of lines. Linear in the number of lines. */
function parseBlocks(text: string): AnswerBlock[] {
  const blocks: AnswerBlock[] = []
  let isCode = false
  /** whether the next line may continue the last block */
  let isOpen = false
  for (const line of text.split('\n')) {
    const last = blocks.at(-1)
    if (line.startsWith('```')) {
      isCode = !isCode
      if (isCode) blocks.push({ kind: 'code', lines: [] })
      isOpen = false
    } else if (isCode && last?.kind === 'code') last.lines.push(line)
    else if (line.trim() === '') isOpen = false
    else {
      addLine(blocks, line, isOpen ? last : undefined)
      isOpen = blocks.at(-1)?.kind !== 'heading'
    }
  }
  return blocks
}

/** @param openBlock last block, if the line may continue it */
function addLine(blocks: AnswerBlock[], line: string, openBlock: AnswerBlock | undefined): void {
  const heading = /^#{1,6} (.*)/.exec(line)?.[1]
  const item = /^\s*(?:([-*•])|\d{1,3}[.)]) (.*)/.exec(line)
  if (heading !== undefined) blocks.push({ kind: 'heading', text: heading })
  else if (item !== null) {
    const isOrdered = item[1] === undefined
    const text = item[2] ?? ''
    const last = blocks.at(-1)
    if (last?.kind === 'list' && last.isOrdered === isOrdered) last.items.push(text)
    else blocks.push({ kind: 'list', isOrdered, items: [text] })
  } else if (openBlock?.kind === 'text') openBlock.text += `\n${line}`
  else if (openBlock?.kind === 'list') openBlock.items[openBlock.items.length - 1] += ` ${line.trim()}`
  else blocks.push({ kind: 'text', text: line })
}
