import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConsistencyIssue, FsckCheck, RepairReport } from '../../../contract/gateway/integrity.js'
import { call } from '../../api/client.js'
import { useInvalidate } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatCount, plural } from '../../ui/format.js'
import { Panel } from '../../ui/parts.js'
import { Badge, ErrorNotice, Notice, type Tone } from '../../ui/state.js'

const CHECK_OPTIONS: readonly { id: FsckCheck; title: string; deep?: true }[] = [
  { id: 'raw-objects', title: 'Document files' },
  { id: 'artifact-segments', title: 'Parsed content' },
  { id: 'references', title: 'Rows and indexes' },
  { id: 'references', title: 'Rows and indexes, each passage searched', deep: true },
]
/** Maximum number of listed issues; the counts include all. */
const MAX_LISTED = 200

interface SpaceCheckResult {
  /** number of items checked */
  scanned: number
  issueCount: number
  /** the first `MAX_LISTED` issues */
  issues: ConsistencyIssue[]
}
interface RepairResult {
  dryRun: boolean
  counts: Record<Exclude<keyof RepairReport['summary'], 'scanned'>, number>
  items: RepairReport['items']
}

/** Panel that checks a space and repairs its issues after a preview. */
export function CheckSpace({ spaceId }: { spaceId: string }) {
  const [checkIndex, setCheckIndex] = useState(0)
  const [scanned, setScanned] = useState(0)
  const invalidate = useInvalidate()
  const { id: check, deep = false } = CHECK_OPTIONS[checkIndex] ?? { id: 'raw-objects' as const }
  const fsck = useMutation({ mutationFn: () => checkAll(spaceId, { check, deep }, setScanned) })
  const repair = useMutation({
    mutationFn: (dryRun: boolean) => repairAll(spaceId, { check, deep, dryRun }, setScanned),
    onSettled: () => invalidate('GET /knowledge-spaces/{id}/status', 'GET /knowledge-spaces/{id}/jobs'),
  })
  const isBusy = fsck.isPending || repair.isPending
  const reset = () => {
    setScanned(0)
    fsck.reset()
    repair.reset()
  }
  return (
    <Panel title="Check and repair">
      <div className="stack">
        <p className="muted">Whether rows, files and indexes agree. A check changes nothing.</p>
        <div className="row">
          <select
            className="select"
            aria-label="What is checked"
            value={checkIndex}
            disabled={isBusy}
            onChange={(event) => {
              reset()
              setCheckIndex(Number(event.target.value))
            }}
          >
            {CHECK_OPTIONS.map(({ title }, index) => (
              <option key={title} value={index}>
                {title}
              </option>
            ))}
          </select>
          <Button
            kind="primary"
            busy={fsck.isPending}
            disabled={isBusy}
            onClick={() => {
              reset()
              fsck.mutate()
            }}
          >
            Check
          </Button>
        </div>
        {isBusy && <p className="muted number">{formatCount(scanned)} checked so far…</p>}
        {fsck.isError && <ErrorNotice error={fsck.error} />}
        {fsck.data !== undefined && repair.data === undefined && (
          <CheckReport result={fsck.data} isBusy={isBusy} onPreview={() => repair.mutate(true)} />
        )}
        {repair.isError && <ErrorNotice error={repair.error} />}
        {repair.data !== undefined && (
          <RepairSummary result={repair.data} isBusy={isBusy} onRepair={() => repair.mutate(false)} />
        )}
      </div>
    </Panel>
  )
}

interface CheckReportProps {
  result: SpaceCheckResult
  isBusy: boolean
  onPreview: () => void
}

function CheckReport({ result: { scanned, issueCount, issues }, isBusy, onPreview }: CheckReportProps) {
  if (issueCount === 0) return <Notice tone="good">{plural(scanned, 'item')} checked, no issues.</Notice>
  return (
    <>
      <Notice
        tone="warn"
        action={
          <Button small disabled={isBusy} onClick={onPreview}>
            Preview the repair
          </Button>
        }
      >
        {plural(scanned, 'item')} checked, {plural(issueCount, 'issue')} found.
      </Notice>
      <ul className="issues">
        {issues.map((issue) => (
          <IssueRow key={issueKey(issue)} issue={issue} note={REPAIR_NOTES[issue.repairability]} />
        ))}
      </ul>
      {issueCount > issues.length && <p className="small faint">The first {issues.length} of them.</p>}
    </>
  )
}

interface RepairSummaryProps {
  result: RepairResult
  isBusy: boolean
  onRepair: () => void
}

function RepairSummary({ result: { dryRun, counts, items }, isBusy, onRepair }: RepairSummaryProps) {
  const { wouldRepair, repaired, failed, manual, notRepairable } = counts
  const remaining = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(manual > 0 ? [`${manual} need manual repair`] : []),
    ...(notRepairable > 0 ? [`${notRepairable} cannot be repaired`] : []),
  ].join(', ')
  return (
    <>
      <Notice
        tone={dryRun ? 'accent' : failed > 0 ? 'bad' : 'good'}
        action={
          dryRun &&
          wouldRepair > 0 && (
            <Button small kind="primary" disabled={isBusy} onClick={onRepair}>
              Repair {plural(wouldRepair, 'issue')}
            </Button>
          )
        }
      >
        {dryRun ? `Nothing was changed yet. ${plural(wouldRepair, 'issue')} would be repaired` : `${repaired} repaired`}
        {remaining !== '' && `; ${remaining}`}.
      </Notice>
      <ul className="issues">
        {items.map(({ issue, action, status }) => (
          <IssueRow key={issueKey(issue)} issue={issue} note={action} isRepaired={status === 'repaired'} />
        ))}
      </ul>
    </>
  )
}

const SEVERITY_TONES: Readonly<Record<ConsistencyIssue['severity'], Tone>> = {
  info: 'neutral',
  warning: 'warn',
  error: 'bad',
  critical: 'bad',
}
const REPAIR_NOTES: Readonly<Record<ConsistencyIssue['repairability'], string>> = {
  'auto-repairable': 'can be repaired here',
  manual: 'needs manual repair',
  'not-repairable': 'cannot be repaired',
}

interface IssueRowProps {
  issue: ConsistencyIssue
  note: string
  isRepaired?: boolean
}

function IssueRow({ issue: { severity, type, message, target }, note, isRepaired = false }: IssueRowProps) {
  return (
    <li className="issue">
      <p className="row">
        <Badge tone={isRepaired ? 'good' : SEVERITY_TONES[severity]}>{isRepaired ? 'repaired' : severity}</Badge>
        <strong>{type.replaceAll('-', ' ')}</strong>
      </p>
      <p className="wrap">{message}</p>
      <p className="small muted wrap">
        {note}
        {target.virtualPath !== undefined && <span className="mono"> {target.virtualPath}</span>}
      </p>
    </li>
  )
}

function issueKey({ type, target }: ConsistencyIssue): string {
  return JSON.stringify([type, target])
}

interface CheckScope {
  check: FsckCheck
  deep: boolean
}

/** Checks all pages of a space. */
async function checkAll(
  id: string,
  { check, deep }: CheckScope,
  onProgress: (scanned: number) => void,
): Promise<SpaceCheckResult> {
  const result: SpaceCheckResult = { scanned: 0, issueCount: 0, issues: [] }
  let cursor: string | undefined
  do {
    const query = { check, deep: deep ? ('true' as const) : ('false' as const) }
    const report = await call('GET /knowledge-spaces/{id}/fsck', {
      path: { id },
      query: cursor === undefined ? query : { ...query, cursor },
    })
    result.scanned += report.summary.scanned
    result.issueCount += report.issues.length
    result.issues.push(...report.issues.slice(0, MAX_LISTED - result.issues.length))
    onProgress(result.scanned)
    cursor = report.cursor
  } while (cursor !== undefined)
  return result
}

/** Repairs all pages of a space; with `dryRun`, changes nothing. */
async function repairAll(
  id: string,
  { check, deep, dryRun }: CheckScope & { dryRun: boolean },
  onProgress: (scanned: number) => void,
): Promise<RepairResult> {
  const counts = { wouldRepair: 0, repaired: 0, failed: 0, manual: 0, notRepairable: 0 }
  const items: RepairResult['items'] = []
  let scanned = 0
  let cursor: string | undefined
  do {
    const body = { check, deep, dryRun }
    const report = await call('POST /knowledge-spaces/{id}/fsck/repair', {
      path: { id },
      body: cursor === undefined ? body : { ...body, cursor },
    })
    const { summary } = report
    counts.wouldRepair += summary.wouldRepair
    counts.repaired += summary.repaired
    counts.failed += summary.failed
    counts.manual += summary.manual
    counts.notRepairable += summary.notRepairable
    items.push(...report.items.slice(0, MAX_LISTED - items.length))
    scanned += summary.scanned
    onProgress(scanned)
    cursor = report.cursor
  } while (cursor !== undefined)
  return { dryRun, counts, items }
}
