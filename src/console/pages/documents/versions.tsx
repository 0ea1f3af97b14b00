import { useMemo, useState } from 'react'
import type { DocumentAsset } from '../../../contract/gateway/documents.js'
import { ApiError } from '../../api/client.js'
import { useRead } from '../../api/use.js'
import { plural } from '../../ui/format.js'
import { Empty, Loaded, Notice } from '../../ui/state.js'
import { type Change, differences } from './differences.js'

const ARTIFACT = 'GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}'

/** Tab that compares a version with the previous one. */
export function Versions({ asset }: { asset: DocumentAsset }) {
  const [version, setVersion] = useState(asset.version)
  if (asset.version === 1)
    return (
      <Empty icon="documents" title="One version">
        <p>Each time the file is read again, a version is added. Its differences are listed here.</p>
      </Empty>
    )
  return (
    <div className="stack">
      <label className="row">
        <span className="muted">Changes in version</span>
        <select className="select" value={version} onChange={(event) => setVersion(Number(event.target.value))}>
          {Array.from({ length: asset.version - 1 }, (_, at) => asset.version - at).map((number) => (
            <option key={number} value={number}>
              {number}
            </option>
          ))}
        </select>
      </label>
      <Comparison key={version} asset={asset} version={version} />
    </div>
  )
}

function Comparison({ asset, version }: { asset: DocumentAsset; version: number }) {
  const path = { id: asset.knowledgeSpaceId, documentId: asset.id }
  const now = useRead(ARTIFACT, { path: { ...path, version: String(version) } })
  const before = useRead(ARTIFACT, { path: { ...path, version: String(version - 1) } })
  const changes = useMemo(
    () =>
      now.data === undefined || before.data === undefined ? [] : differences(linesOf(before.data), linesOf(now.data)),
    [now.data, before.data],
  )
  if ([now.error, before.error].some((error) => error instanceof ApiError && error.status === 404))
    return (
      <Notice>
        One of the two versions no longer exists or was never read. How many versions are kept depends on the space's
        retention.
      </Notice>
    )
  return (
    <Loaded of={before} lines={6}>
      {() => <Loaded of={now}>{() => <Changes changes={changes} />}</Loaded>}
    </Loaded>
  )
}

function linesOf({ elements }: { elements: readonly { text?: string | undefined }[] }): string[] {
  return elements.flatMap(({ text }) => (text === undefined || text === '' ? [] : [text]))
}

function Changes({ changes }: { changes: readonly Change[] }) {
  const changed = changes.filter(({ kind }) => kind !== 'unchanged')
  if (changed.length === 0) return <Notice tone="good">The text is the same in both.</Notice>
  const came = changed.filter(({ kind }) => kind === 'added').length
  return (
    <>
      <p className="muted small">
        {plural(came, 'element')} added, {plural(changed.length - came, 'element')} removed.
      </p>
      <ol className="changes">
        {changes.map(({ kind, text }, at) =>
          kind === 'unchanged' ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
            <li key={at} className="change faint small">
              {text}
            </li>
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
            <li key={at} className={`change change-${kind} wrap`}>
              <span className="sr-only">{kind === 'added' ? 'Added: ' : 'Removed: '}</span>
              {text}
            </li>
          ),
        )}
      </ol>
    </>
  )
}
