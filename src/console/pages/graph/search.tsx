import { useDeferredValue, useState } from 'react'
import { useRead } from '../../api/use.js'
import { setQuery } from '../../router.js'
import { TextField } from '../../ui/fields.js'
import { Loaded } from '../../ui/state.js'

const MAX_RESULTS = 20

/** Search field that finds entities by a part of their name. */
export function EntitySearch({ spaceId }: { spaceId: string }) {
  const [text, setText] = useState('')
  const query = useDeferredValue(text.trim())
  const results = useRead(
    'GET /knowledge-spaces/{id}/graph/entities',
    { path: { id: spaceId }, query: { query, limit: MAX_RESULTS } },
    { enabled: query !== '' },
  )
  return (
    <div className="graph-search">
      <TextField
        label="Find an entity"
        type="search"
        maxLength={240}
        placeholder="Part of its name"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {query !== '' && (
        <Loaded query={results} lines={3}>
          {({ items, nextCursor }) => (
            <ul className="graph-list" aria-label="Entities found">
              {items.map(({ id, name, type }) => (
                <li key={id}>
                  <button
                    type="button"
                    className="graph-item"
                    onClick={() => {
                      setText('')
                      setQuery({ entity: id })
                    }}
                  >
                    <span className="graph-name">{name}</span>
                    <span className="small faint">{type}</span>
                  </button>
                </li>
              ))}
              {items.length === 0 && <li className="muted small">No entity name contains this.</li>}
              {nextCursor !== undefined && <li className="muted small">There are more: type more of the name.</li>}
            </ul>
          )}
        </Loaded>
      )}
    </div>
  )
}
