import type { ReactNode } from 'react'
import type { DaemonStatus } from '../../../contract/gateway/system.js'
import { useRead } from '../../api/use.js'
import { formatBytes, formatCount, formatMoment, formatMs } from '../../ui/format.js'
import { Facts, Panel, ScrollFrame } from '../../ui/parts.js'
import { Badge, Loaded, Notice } from '../../ui/state.js'

const POLL_MS = 2_000

/** Tab of the daemon's current activity. */
export function Activity() {
  const status = useRead('GET /daemon/status', { query: {} }, { refetchInterval: POLL_MS })
  return <Loaded query={status}>{(data) => <ActivityView status={data} />}</Loaded>
}

function ActivityView({ status }: { status: DaemonStatus }) {
  const { activity, memory, eventLoop, storage, damage, processes, models } = status
  return (
    <div className="stack">
      {damage !== undefined && <Notice tone="bad">{damage}</Notice>}
      {storage?.isFull === true && (
        <Notice tone="bad">
          The disk is full: nothing is stored until {formatBytes(storage.missingBytes)} are free again. Everything can
          still be read.
        </Notice>
      )}
      <ul className="figures">
        <Figure name="Running jobs" value={formatCount(activity.activeJobs)} />
        <Figure name="Waiting jobs" value={formatCount(activity.waitingJobs)} />
        {activity.runningQueries !== undefined && (
          <Figure name="Queries" value={formatCount(activity.runningQueries)} />
        )}
        {activity.openRequests !== undefined && (
          <Figure name="Open requests" value={formatCount(activity.openRequests)} />
        )}
        {memory !== undefined && <Figure name="Memory" value={formatBytes(memory.rss)} />}
        {storage !== undefined && <Figure name="Disk free" value={formatBytes(storage.freeBytes)} />}
      </ul>
      <div className="ops-columns">
        <Panel title="Daemon">
          <Facts
            entries={[
              ['Version', status.version],
              ['Started', `${formatMoment(status.startedAt)}, ${formatUptime(status.uptimeMs)} ago`],
              ['Runs', status.mode],
              ...(memory === undefined ? [] : ([['Peak memory', formatBytes(memory.peakRss)]] as const)),
              ...(eventLoop === undefined
                ? []
                : ([
                    [
                      'Event loop delay',
                      `${formatMs(eventLoop.p50)} median, ${formatMs(eventLoop.p99)} at the 99th percentile`,
                    ],
                  ] as const)),
              ...(activity.backgroundTasks === undefined
                ? []
                : ([['Indexes in training', formatCount(activity.backgroundTasks)]] as const)),
              ['Largest upload', formatBytes(status.limits.uploadBytes)],
              [
                'Largest batch',
                `${formatCount(status.limits.bulkFiles)} files, ${formatBytes(status.limits.bulkBytes)}`,
              ],
            ]}
          />
        </Panel>
        {processes !== undefined && <ProcessTable processes={processes} />}
      </div>
      {models !== undefined && <ModelUsagePanel models={models} />}
      {memory === undefined && <Notice>Only the operator of the daemon sees memory, processes and models.</Notice>}
    </div>
  )
}

/** One number of a row of figures. */
export function Figure({ name, value }: { name: string; value: ReactNode }) {
  return (
    <li className="figure">
      <span className="faint small">{name}</span>
      <strong className="number">{value}</strong>
    </li>
  )
}

function ProcessTable({ processes }: { processes: NonNullable<DaemonStatus['processes']> }) {
  return (
    <Panel title="Processes">
      <ScrollFrame label="Processes">
        <table className="table">
          <thead>
            <tr>
              <th>Role</th>
              <th className="right">Process</th>
              <th className="right">Memory</th>
              <th className="right">Peak</th>
            </tr>
          </thead>
          <tbody>
            {processes.map(({ role, pid, rss, peakRss }) => (
              <tr key={pid}>
                <td>{role}</td>
                <td className="right">{pid}</td>
                <td className="right">{formatBytes(rss)}</td>
                <td className="right">{formatBytes(peakRss)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollFrame>
    </Panel>
  )
}

const COUNTER_LABELS = {
  embeddingTokens: 'embedding tokens',
  llmTokens: 'model tokens',
  rerankRequests: 'reranks',
} as const

function ModelUsagePanel({ models: { today, budgets, providers } }: { models: NonNullable<DaemonStatus['models']> }) {
  return (
    <Panel title="Models today">
      <p className="muted">
        {formatCount(today.embeddingTokens)} embedding tokens, {formatCount(today.llmTokens)} model tokens,{' '}
        {formatCount(today.rerankRequests)} reranks
      </p>
      {budgets.length > 0 && (
        <ul className="budgets">
          {budgets.map(({ knowledgeSpaceId, slug, counter, used, limit }) => (
            <li key={knowledgeSpaceId + counter}>
              <span className="mono wrap">{slug}</span> <span className="muted">{COUNTER_LABELS[counter]}</span>
              <Meter used={used} limit={limit} />
            </li>
          ))}
        </ul>
      )}
      {providers.map(({ pluginId, provider, baseUrl, credential, circuits }) => (
        <div key={`${pluginId}/${provider}`} className="provider">
          <h3 className="row">
            {pluginId}/{provider}
            {credential === 'missing' && <Badge tone="bad">no credential</Badge>}
          </h3>
          {baseUrl !== undefined && <p className="faint small mono wrap">{baseUrl}</p>}
          <ul className="small">
            {circuits.map(({ kind, model, state, calls, failed }) => (
              <li key={kind + model} className="row">
                <span className="wrap">{model}</span> <span className="muted">{kind}</span>
                <span className="muted number">
                  {formatCount(calls)} calls, {formatCount(failed)} failed
                </span>
                {state !== 'closed' && <Badge tone="warn">{state === 'open' ? 'suspended' : 'retrying'}</Badge>}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </Panel>
  )
}

/** Fraction of a limit from which the meter warns. */
const WARN_FRACTION = 0.9

function Meter({ used, limit }: { used: number; limit: number | undefined }) {
  if (limit === undefined) return <span className="number">{formatCount(used)}, no limit</span>
  const fraction = limit === 0 ? 1 : Math.min(1, used / limit)
  return (
    <span className="ops-meter">
      <span className="number">
        {formatCount(used)} of {formatCount(limit)}
      </span>
      <span className="meter" aria-hidden="true">
        <span
          className={fraction > WARN_FRACTION ? 'meter-fill is-warn' : 'meter-fill'}
          style={{ width: `${fraction * 100}%` }}
        />
      </span>
    </span>
  )
}

/** `3 hours` */
function formatUptime(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes === 0) return 'less than a minute'
  if (minutes < 60) return minutes === 1 ? '1 minute' : `${minutes} minutes`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`
}
