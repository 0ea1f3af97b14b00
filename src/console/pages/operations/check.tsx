import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConsistencyIssue, FsckCheck, RepairReport } from '../../../contract/gateway/integrity.js'
import { call } from '../../api/client.js'
import { useForget } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatCount, plural } from '../../ui/format.js'
import { Panel } from '../../ui/parts.js'
import { Badge, Failure, Notice, type Tone } from '../../ui/state.js'

const CHECKS: readonly { id: FsckCheck; title: string; deep?: true }[] = [
  { id: 'raw-objects', title: 'Document files' },
  { id: 'artifact-segments', title: 'Parsed content' },
  { id: 'references', title: 'Rows and indexes' },
  { id: 'references', title: 'Rows and indexes, each passage searched', deep: true },
]
/** Number of listed issues; the counts include all. */
const SHOWN = 200

interface Checked {
  scanned: number
  found: number
  issues: ConsistencyIssue[]
}
interface Repaired {
  dryRun: boolean
  counts: Record<Exclude<keyof RepairReport['summary'], 'scanned'>, number>
  items: RepairReport['items']
}

export function CheckSpace({ spaceId }: { spaceId: string }) {
  const [at, setAt] = useState(0)
  const [scanned, setScanned] = useState(0)
  const forget = useForget()
  const { id: check, deep = false } = CHECKS[at] ?? { id: 'raw-objects' as const }
  const fsck = useMutation({ mutationFn: () => checkAll(spaceId, { check, deep }, setScanned) })
  const repair = useMutation({
    mutationFn: (dryRun: boolean) => repairAll(spaceId, { check, deep, dryRun }, setScanned),
    onSettled: () => forget('GET /knowledge-spaces/{id}/status', 'GET /knowledge-spaces/{id}/jobs'),
  })
  const isBusy = fsck.isPending || repair.isPending
  const anew = () => {
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
            value={at}
            disabled={isBusy}
            onChange={(event) => {
              anew()
              setAt(Number(event.target.value))
            }}
          >
            {CHECKS.map(({ title }, index) => (
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
              anew()
              fsck.mutate()
            }}
          >
            Check
          </Button>
        </div>
        {isBusy && <p className="muted number">{formatCount(scanned)} checked so far…</p>}
        {fsck.isError && <Failure error={fsck.error} />}
        {fsck.data !== undefined && repair.data === undefined && (
          <Found checked={fsck.data} isBusy={isBusy} tryRepair={() => repair.mutate(true)} />
        )}
        {repair.isError && <Failure error={repair.error} />}
        {repair.data !== undefined && (
          <Repairs of={repair.data} isBusy={isBusy} repairNow={() => repair.mutate(false)} />
        )}
      </div>
    </Panel>
  )
}

function Found({ checked, isBusy, tryRepair }: { checked: Checked; isBusy: boolean; tryRepair: () => void }) {
  const { scanned, found, issues } = checked
  if (found === 0) return <Notice tone="good">{plural(scanned, 'item')} checked, no issues.</Notice>
  return (
    <>
      <Notice
        tone="warn"
        action={
          <Button small disabled={isBusy} onClick={tryRepair}>
            Preview the repair
          </Button>
        }
      >
        {plural(scanned, 'item')} checked, {plural(found, 'issue')} found.
      </Notice>
      <ul className="issues">
        {issues.map((issue) => (
          <IssueRow key={keyOf(issue)} issue={issue} note={REPAIRABLE[issue.repairability]} />
        ))}
      </ul>
      {found > issues.length && <p className="small faint">The first {issues.length} of them.</p>}
    </>
  )
}

function Repairs({ of, isBusy, repairNow }: { of: Repaired; isBusy: boolean; repairNow: () => void }) {
  const { dryRun, counts, items } = of
  const { wouldRepair, repaired, failed, manual, notRepairable } = counts
  const rest = [
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
            <Button small kind="primary" disabled={isBusy} onClick={repairNow}>
              Repair {plural(wouldRepair, 'issue')}
            </Button>
          )
        }
      >
        {dryRun ? `Nothing was changed yet. ${plural(wouldRepair, 'issue')} would be repaired` : `${repaired} repaired`}
        {rest !== '' && `; ${rest}`}.
      </Notice>
      <ul className="issues">
        {items.map(({ issue, action, status }) => (
          <IssueRow key={keyOf(issue)} issue={issue} note={action} done={status === 'repaired'} />
        ))}
      </ul>
    </>
  )
}

const TONES: Readonly<Record<ConsistencyIssue['severity'], Tone>> = {
  info: 'neutral',
  warning: 'warn',
  error: 'bad',
  critical: 'bad',
}
const REPAIRABLE: Readonly<Record<ConsistencyIssue['repairability'], string>> = {
  'auto-repairable': 'can be repaired here',
  manual: 'needs manual repair',
  'not-repairable': 'cannot be repaired',
}

function IssueRow({ issue, note, done = false }: { issue: ConsistencyIssue; note: string; done?: boolean }) {
  const { severity, type, message, target } = issue
  return (
    <li className="issue">
      <p className="row">
        <Badge tone={done ? 'good' : TONES[severity]}>{done ? 'repaired' : severity}</Badge>
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

function keyOf({ type, target }: ConsistencyIssue): string {
  return JSON.stringify([type, target])
}

interface What {
  check: FsckCheck
  deep: boolean
}

async function checkAll(id: string, { check, deep }: What, progress: (scanned: number) => void): Promise<Checked> {
  const sum: Checked = { scanned: 0, found: 0, issues: [] }
  let cursor: string | undefined
  do {
    const query = { check, deep: deep ? ('true' as const) : ('false' as const) }
    const report = await call('GET /knowledge-spaces/{id}/fsck', {
      path: { id },
      query: cursor === undefined ? query : { ...query, cursor },
    })
    sum.scanned += report.summary.scanned
    sum.found += report.issues.length
    sum.issues.push(...report.issues.slice(0, SHOWN - sum.issues.length))
    progress(sum.scanned)
    cursor = report.cursor
  } while (cursor !== undefined)
  return sum
}

async function repairAll(
  id: string,
  { check, deep, dryRun }: What & { dryRun: boolean },
  progress: (scanned: number) => void,
): Promise<Repaired> {
  const counts = { wouldRepair: 0, repaired: 0, failed: 0, manual: 0, notRepairable: 0 }
  const items: Repaired['items'] = []
  let scanned = 0
  let cursor: string | undefined
  do {
    const body = { check, deep, dryRun }
    const report = await call('POST /knowledge-spaces/{id}/fsck/repair', {
      path: { id },
      body: cursor === undefined ? body : { ...body, cursor },
    })
    const { scanned: more, ...found } = report.summary
    counts.wouldRepair += found.wouldRepair
    counts.repaired += found.repaired
    counts.failed += found.failed
    counts.manual += found.manual
    counts.notRepairable += found.notRepairable
    items.push(...report.items.slice(0, SHOWN - items.length))
    scanned += more
    progress(scanned)
    cursor = report.cursor
  } while (cursor !== undefined)
  return { dryRun, counts, items }
}
