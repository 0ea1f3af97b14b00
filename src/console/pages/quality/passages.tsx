import type { UseQueryResult } from '@tanstack/react-query'
import type { RetrievedPassage } from '../../../contract/gateway/search.js'
import { Badge, Loaded } from '../../ui/state.js'
import { getFilename, QuotedPassage } from '../../viewer/quoted-passage.js'

interface PassageChoiceProps {
  title: string
  /** search that found the passages */
  query: UseQueryResult<unknown>
  passages: readonly RetrievedPassage[]
  suggestedIds: readonly string[]
  /** ids of suggested passages that the search does not find */
  notFoundIds: readonly string[]
  spaceId: string
  expectedIds: ReadonlySet<string>
  setExpectedIds: (ids: ReadonlySet<string>) => void
}

/** List of passages with check boxes for the expected ones. */
export function PassageChoice(props: PassageChoiceProps) {
  const { title, query, passages, suggestedIds, notFoundIds, spaceId, expectedIds, setExpectedIds } = props
  const toggle = (id: string) => {
    const next = new Set(expectedIds)
    if (!next.delete(id)) next.add(id)
    setExpectedIds(next)
  }
  return (
    <fieldset className="passages">
      <legend className="small">{title}</legend>
      <Loaded query={query} lines={4}>
        {() => (
          <ul className="passages-list">
            {passages.map((passage) => (
              <li key={passage.nodeId}>
                <input
                  type="checkbox"
                  aria-label={`Expected: ${getFilename(passage)}`}
                  checked={expectedIds.has(passage.nodeId)}
                  onChange={() => toggle(passage.nodeId)}
                />
                <QuotedPassage
                  spaceId={spaceId}
                  passage={passage}
                  aside={suggestedIds.includes(passage.nodeId) && <Badge tone="accent">suggested</Badge>}
                />
              </li>
            ))}
            {notFoundIds.map((id) => (
              <li key={id}>
                <input
                  type="checkbox"
                  aria-label={`Expected: passage ${id}`}
                  checked={expectedIds.has(id)}
                  onChange={() => toggle(id)}
                />
                <p className="small muted wrap">
                  Suggested by the wider search of triage, not found by a query: passage <code>{id}</code>
                </p>
              </li>
            ))}
            {passages.length + notFoundIds.length === 0 && <li className="muted">The search finds no passage.</li>}
          </ul>
        )}
      </Loaded>
    </fieldset>
  )
}
