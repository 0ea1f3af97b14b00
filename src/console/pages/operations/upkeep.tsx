import { CheckSpace } from './check.js'
import { CleanSpace } from './clean.js'

/** Check and repair, find and remove what nothing needs; both say first what they would do. */
export function Upkeep({ spaceId }: { spaceId: string }) {
  return (
    <div className="stack">
      <CheckSpace spaceId={spaceId} />
      <CleanSpace spaceId={spaceId} />
    </div>
  )
}
