import { CheckSpace } from './check.js'
import { CleanSpace } from './clean.js'

/** Tab to check and repair a space and to remove unreferenced objects; both first show what they would do. */
export function MaintenanceTab({ spaceId }: { spaceId: string }) {
  return (
    <div className="stack">
      <CheckSpace spaceId={spaceId} />
      <CleanSpace spaceId={spaceId} />
    </div>
  )
}
