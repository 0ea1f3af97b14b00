import { useMemo, useState } from 'react'
import type { DocumentAsset } from '../../../contract/gateway/documents.js'
import { RequestError } from '../../api/client.js'
import { useRead } from '../../api/use.js'
import { plural } from '../../ui/format.js'
import { Empty, Loaded, Notice } from '../../ui/state.js'
import { diffElements, type TextChange } from './differences.js'

const ARTIFACT = 'GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}'

/** Tab that compares a version with the previous one. */
export function DocumentVersions({ asset }: { asset: DocumentAsset }) {
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
          {Array.from({ length: asset.version - 1 }, (_, index) => asset.version - index).map((number) => (
            <option key={number} value={number}>
              {number}
            </option>
          ))}
        </select>
      </label>
      <VersionComparison key={version} asset={asset} version={version} />
    </div>
  )
}

function VersionComparison({ asset, version }: { asset: DocumentAsset; version: number }) {
  const path = { id: asset.knowledgeSpaceId, documentId: asset.id }
  const current = useRead(ARTIFACT, { path: { ...path, version: String(version) } })
  const previous = useRead(ARTIFACT, { path: { ...path, version: String(version - 1) } })
  const changes = useMemo(
    () =>
      current.data === undefined || previous.data === undefined
        ? []
        : diffElements(listTexts(previous.data), listTexts(current.data)),
    [current.data, previous.data],
  )
  if ([current.error, previous.error].some((error) => error instanceof RequestError && error.status === 404))
    return (
      <Notice>
        One of the two versions no longer exists or was never read. How many versions are kept depends on the space's
        retention.
      </Notice>
    )
  return (
    <Loaded query={previous} lines={6}>
      {() => <Loaded query={current}>{() => <ChangeList changes={changes} />}</Loaded>}
    </Loaded>
  )
}

function listTexts({ elements }: { elements: readonly { text?: string | undefined }[] }): string[] {
  return elements.flatMap(({ text }) => (text === undefined || text === '' ? [] : [text]))
}

function ChangeList({ changes }: { changes: readonly TextChange[] }) {
  const changed = changes.filter(({ kind }) => kind !== 'unchanged')
  if (changed.length === 0) return <Notice tone="good">The text is the same in both.</Notice>
  const addedCount = changed.filter(({ kind }) => kind === 'added').length
  return (
    <>
      <p className="muted small">
        {plural(addedCount, 'element')} added, {plural(changed.length - addedCount, 'element')} removed.
      </p>
      <ol className="changes">
        {changes.map(({ kind, text }, index) =>
          kind === 'unchanged' ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
            <li key={index} className="change faint small">
              {text}
            </li>
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
            <li key={index} className={`change change-${kind} wrap`}>
              <span className="sr-only">{kind === 'added' ? 'Added: ' : 'Removed: '}</span>
              {text}
            </li>
          ),
        )}
      </ol>
    </>
  )
}
