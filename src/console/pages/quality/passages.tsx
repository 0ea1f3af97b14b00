import type { UseQueryResult } from '@tanstack/react-query'
import type { RetrievedPassage } from '../../../contract/gateway/search.js'
import { Badge, Loaded } from '../../ui/state.js'
import { QuotedPassage } from '../../viewer/quoted-passage.js'
import { filenameOf } from './expectation.js'

interface PassageChoiceProps {
  title: string
  query: UseQueryResult<unknown>
  passages: readonly RetrievedPassage[]
  suggested: readonly string[]
  /** ids of suggested passages that the search does not find */
  notFound: readonly string[]
  spaceId: string
  expected: ReadonlySet<string>
  setExpected: (ids: ReadonlySet<string>) => void
}

/** List of passages with check boxes for the expected ones. */
export function PassageChoice({
  title,
  query,
  passages,
  suggested,
  notFound,
  spaceId,
  expected,
  setExpected,
}: PassageChoiceProps) {
  const toggle = (id: string) => {
    const next = new Set(expected)
    if (!next.delete(id)) next.add(id)
    setExpected(next)
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
                  aria-label={`Expected: ${filenameOf(passage)}`}
                  checked={expected.has(passage.nodeId)}
                  onChange={() => toggle(passage.nodeId)}
                />
                {passage.citations[0] !== undefined && (
                  <QuotedPassage
                    spaceId={spaceId}
                    citation={passage.citations[0]}
                    filename={filenameOf(passage)}
                    text={passage.text}
                    aside={suggested.includes(passage.nodeId) && <Badge tone="accent">suggested</Badge>}
                  />
                )}
              </li>
            ))}
            {notFound.map((id) => (
              <li key={id}>
                <input
                  type="checkbox"
                  aria-label={`Expected: passage ${id}`}
                  checked={expected.has(id)}
                  onChange={() => toggle(id)}
                />
                <p className="small muted wrap">
                  Suggested by the wider search of triage, not found by a query: passage <code>{id}</code>
                </p>
              </li>
            ))}
            {passages.length + notFound.length === 0 && <li className="muted">The search finds no passage.</li>}
          </ul>
        )}
      </Loaded>
    </fieldset>
  )
}
