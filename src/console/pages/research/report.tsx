import '../ask/ask.css'
import '../../viewer/quoted.css'
import { Fragment, useState } from 'react'
import type { CallResult } from '../../../client/routes.js'
import { useRead } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { plural } from '../../ui/format.js'
import { Panel } from '../../ui/parts.js'
import { Badge, Lacking, Loaded, Notice } from '../../ui/state.js'
import { say } from '../../ui/toast.js'
import { DocumentSheet } from '../../viewer/sheet.js'
import { AnswerText } from '../ask/answer-text.js'
import { STATE, STOPPED } from './words.js'

type ReportOf = CallResult<'GET /research-tasks/{id}/report'>
type Source = ReportOf['sources'][number]

/** Report of a task; a citation opens the document at the passage. */
export function Report({ id }: { id: string }) {
  const report = useRead('GET /research-tasks/{id}/report', { path: { id } })
  return <Loaded of={report}>{(loaded) => <Shown report={loaded} />}</Loaded>
}

function Shown({ report }: { report: ReportOf }) {
  const [opened, setOpened] = useState<Source>()
  const cite = (number: number) => setOpened(report.sources.find((source) => source.number === number))
  const cited = Math.max(0, ...report.sources.map(({ number }) => number))
  const copy = () =>
    navigator.clipboard.writeText(report.text).then(
      () => say('Copied as Markdown.'),
      () => say('The browser blocked copying.', 'bad'),
    )
  const { said, tone } = STATE[report.state]
  return (
    <>
      <Panel
        title="Report"
        actions={
          <span className="row">
            <Badge tone={tone}>{said}</Badge>
            <Button small onClick={() => void copy()}>
              Copy
            </Button>
          </span>
        }
      >
        <div className="stack">
          {report.stoppedBy !== undefined && (
            <Notice tone="warn">
              The search ended early: {STOPPED[report.stoppedBy.limit]} ({report.stoppedBy.limitValue}).
            </Notice>
          )}
          {report.degraded && <Lacking of={report.degradedReasons} />}
          <div className="research-report">
            {segmentsOf(report.text).map(({ rows, text, at }) => (
              <Fragment key={at}>
                {rows === undefined ? (
                  <AnswerText text={text} isRunning={false} cited={cited} onCite={cite} />
                ) : (
                  <ReportTable rows={rows} cited={cited} onCite={cite} />
                )}
              </Fragment>
            ))}
          </div>
          <p className="small faint">
            {report.generator === 'extractive'
              ? 'Quoted from the documents.'
              : 'Written by a model; each statement was compared with its passage.'}
          </p>
        </div>
      </Panel>
      {report.open.length > 0 && (
        <Panel title="Open questions">
          <ul className="research-open">
            {report.open.map((question) => (
              <li key={question} className="wrap">
                {question}
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Panel title={plural(report.sources.length, 'source')}>
        <ol className="research-sources">
          {report.sources.map((source) => (
            <li key={source.number}>
              <span className="number faint">{source.number}</span>
              <button type="button" className="quoted-name wrap" onClick={() => setOpened(source)}>
                {source.title}
              </button>
              {source.citation.pageNumber !== undefined && (
                <span className="small faint">page {source.citation.pageNumber}</span>
              )}
            </li>
          ))}
        </ol>
      </Panel>
      {opened !== undefined && (
        <DocumentSheet
          spaceId={report.knowledgeSpaceId}
          documentId={opened.citation.documentAssetId}
          version={opened.citation.documentVersion}
          target={opened.citation}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  )
}

interface ReportTableProps {
  rows: readonly string[][]
  cited: number
  onCite: (number: number) => void
}

function ReportTable({ rows, cited, onCite }: ReportTableProps) {
  const [head = [], ...body] = rows
  return (
    <div className="table-frame">
      <table className="table">
        <thead>
          <tr>
            {head.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the table never changes
              <th key={at}>{cell}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((cells, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the table never changes
            <tr key={row}>
              {cells.map((cell, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the table never changes
                <td key={at}>
                  <AnswerText text={cell} isRunning={false} cited={cited} onCite={onCite} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface Segment {
  at: number
  text: string
  rows?: string[][]
}

/** Splits a report into tables and the text between them. */
function segmentsOf(text: string): Segment[] {
  const segments: Segment[] = []
  text.split('\n').forEach((line, at) => {
    const isRow = line.startsWith('|')
    const last = segments.at(-1)
    if (isRow) {
      const cells = line
        .replace(/^\||\|\s*$/g, '')
        .split(/(?<!\\)\|/)
        .map((cell) => cell.replaceAll('\\|', '|').trim())
      const isRule = cells.every((cell) => /^:?-+:?$/.test(cell))
      if (last?.rows === undefined) segments.push({ at, text: '', rows: isRule ? [] : [cells] })
      else if (!isRule) last.rows.push(cells)
    } else if (last === undefined || last.rows !== undefined) segments.push({ at, text: line })
    else last.text += `\n${line}`
  })
  return segments
}
