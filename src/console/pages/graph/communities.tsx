import { useSyncExternalStore } from 'react'
import type { Community } from '../../../contract/gateway/communities.js'
import { setQuery } from '../../router.js'
import { Button } from '../../ui/button.js'
import { plural } from '../../ui/format.js'
import { Badge } from '../../ui/state.js'
import { getThemeKey, subscribeToTheme } from '../../ui/theme-colours.js'
import { getCommunityColour } from './entity-drawing.js'
import { PassageLink } from './passage-link.js'

export function CommunityList({ communities }: { communities: readonly Community[] }) {
  const theme = useSyncExternalStore(subscribeToTheme, getThemeKey)
  const isDark = theme.startsWith('dark') || (!theme.startsWith('light') && theme.endsWith('true'))
  return (
    <section aria-labelledby="graph-communities">
      <h2 id="graph-communities">{plural(communities.length, 'community', 'communities')}</h2>
      <ul className="graph-list">
        {communities.map(({ slug, name, entityCount, documentCount }, index) => (
          <li key={slug}>
            <button type="button" className="graph-item" onClick={() => setQuery({ community: slug })}>
              <span className="graph-swatch" style={{ background: getCommunityColour(index, { isDark }) }} />
              <span className="graph-name">{name}</span>
              <span className="small faint number">
                {plural(entityCount, 'entity', 'entities')} in {plural(documentCount, 'document')}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

interface CommunityPanelProps {
  community: Community
  spaceId: string
  /** undefined until they are loaded */
  members: readonly { id: string; name: string }[] | undefined
}

/** Panel of a community: its summary with the cited passages, and its members. */
export function CommunityPanel({ community, spaceId, members }: CommunityPanelProps) {
  const { name, entityCount, documentCount, report, stale, terms } = community
  return (
    <section className="stack" aria-labelledby="graph-community">
      <Button small kind="quiet" icon="back" onClick={() => setQuery({ community: undefined })}>
        All communities
      </Button>
      <h2 id="graph-community" className="wrap">
        {name}
      </h2>
      <p className="row small muted">
        <span>
          {plural(entityCount, 'entity', 'entities')} in {plural(documentCount, 'document')}
        </span>
        {stale && <Badge tone="warn">does not cover all documents</Badge>}
        {report.writtenBy === 'model' && <Badge>written by a model</Badge>}
      </p>
      {report.statements.map(({ text, citations }) => (
        <div key={text} className="graph-statement">
          <p className="wrap">{text}</p>
          <p className="row small">
            {citations.map(({ documentId, filename, nodeId, pageNumber }) => (
              <PassageLink
                key={nodeId}
                spaceId={spaceId}
                documentId={documentId}
                filename={filename}
                nodeId={nodeId}
                pageNumber={pageNumber}
                text={text}
              />
            ))}
          </p>
        </div>
      ))}
      <h3>Best connected</h3>
      {members === undefined ? (
        <p className="wrap muted">{terms.join(', ')}</p>
      ) : (
        <ul className="graph-chips">
          {members
            .toSorted((a, b) => rankByTerms(a.name, terms) - rankByTerms(b.name, terms))
            .map(({ id, name: memberName }) => (
              <li key={id}>
                <button type="button" className="graph-chip" onClick={() => setQuery({ entity: id })}>
                  {memberName}
                </button>
              </li>
            ))}
        </ul>
      )}
    </section>
  )
}

/** Index of a name in the terms; other names come last. */
function rankByTerms(name: string, terms: readonly string[]): number {
  const index = terms.indexOf(name)
  return index < 0 ? terms.length : index
}
