import '../ask/ask.css'
import '../../viewer/quoted.css'
import { Fragment, useState } from 'react'
import type { CallResult } from '../../../client/routes.js'
import { useRead } from '../../api/use.js'
import { AnswerText } from '../../chat/answer-text.js'
import { Button } from '../../ui/button.js'
import { plural } from '../../ui/format.js'
import { Panel } from '../../ui/parts.js'
import { Badge, DegradedNotice, Loaded, Notice } from '../../ui/state.js'
import { showToast } from '../../ui/toast.js'
import { DocumentSheet } from '../../viewer/document-sheet.js'
import { STATE_LABELS, STOP_REASONS } from './labels.js'

type TaskReport = CallResult<'GET /research-tasks/{id}/report'>
type ReportSource = TaskReport['sources'][number]

/** Report of a task; a citation opens the document at the passage. */
export function Report({ id }: { id: string }) {
  const report = useRead('GET /research-tasks/{id}/report', { path: { id } })
  return <Loaded query={report}>{(data) => <ReportView report={data} />}</Loaded>
}

function ReportView({ report }: { report: TaskReport }) {
  const [openSource, setOpenSource] = useState<ReportSource>()
  const onCite = (number: number) => setOpenSource(report.sources.find((source) => source.number === number))
  const maxCitation = Math.max(0, ...report.sources.map(({ number }) => number))
  const copy = () =>
    navigator.clipboard.writeText(report.text).then(
      () => showToast('Copied as Markdown.'),
      () => showToast('The browser blocked copying.', 'bad'),
    )
  const { label, tone } = STATE_LABELS[report.state]
  return (
    <>
      <Panel
        title="Report"
        actions={
          <span className="row">
            <Badge tone={tone}>{label}</Badge>
            <Button small onClick={() => void copy()}>
              Copy
            </Button>
          </span>
        }
      >
        <div className="stack">
          {report.stoppedBy !== undefined && (
            <Notice tone="warn">
              The search ended early: {STOP_REASONS[report.stoppedBy.limit]} ({report.stoppedBy.limitValue}).
            </Notice>
          )}
          {report.degraded && <DegradedNotice reasons={report.degradedReasons} />}
          <div className="research-report">
            {splitReport(report.text).map(({ rows, text, lineIndex }) => (
              <Fragment key={lineIndex}>
                {rows === undefined ? (
                  <AnswerText text={text} isRunning={false} itemCount={maxCitation} onCite={onCite} />
                ) : (
                  <ReportTable rows={rows} maxCitation={maxCitation} onCite={onCite} />
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
              <button type="button" className="quoted-name wrap" onClick={() => setOpenSource(source)}>
                {source.title}
              </button>
              {source.citation.pageNumber !== undefined && (
                <span className="small faint">page {source.citation.pageNumber}</span>
              )}
            </li>
          ))}
        </ol>
      </Panel>
      {openSource !== undefined && (
        <DocumentSheet
          spaceId={report.knowledgeSpaceId}
          citation={openSource.citation}
          onClose={() => setOpenSource(undefined)}
        />
      )}
    </>
  )
}

interface ReportTableProps {
  /** the first one is the head */
  rows: readonly string[][]
  /** higher bracketed numbers are no citations */
  maxCitation: number
  onCite: (number: number) => void
}

function ReportTable({ rows, maxCitation, onCite }: ReportTableProps) {
  const [head = [], ...body] = rows
  return (
    <div className="table-frame">
      <table className="table">
        <thead>
          <tr>
            {head.map((cell, columnIndex) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the table never changes
              <th key={columnIndex}>{cell}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((cells, rowIndex) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the table never changes
            <tr key={rowIndex}>
              {cells.map((cell, columnIndex) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the table never changes
                <td key={columnIndex}>
                  <AnswerText text={cell} isRunning={false} itemCount={maxCitation} onCite={onCite} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface ReportSegment {
  /** of its first line in the report */
  lineIndex: number
  /** '' for a table */
  text: string
  /** cells of a table */
  rows?: string[][]
}

/** Splits a report into tables and the text between them. */
function splitReport(text: string): ReportSegment[] {
  const segments: ReportSegment[] = []
  text.split('\n').forEach((line, lineIndex) => {
    const last = segments.at(-1)
    if (line.startsWith('|')) {
      const cells = line
        .replace(/^\||\|\s*$/g, '')
        .split(/(?<!\\)\|/)
        .map((cell) => cell.replaceAll('\\|', '|').trim())
      const isSeparator = cells.every((cell) => /^:?-+:?$/.test(cell))
      if (last?.rows === undefined) segments.push({ lineIndex, text: '', rows: isSeparator ? [] : [cells] })
      else if (!isSeparator) last.rows.push(cells)
    } else if (last === undefined || last.rows !== undefined) segments.push({ lineIndex, text: line })
    else last.text += `\n${line}`
  })
  return segments
}
