import { useState } from 'react'
import { isRecord } from '../../api/session.js'
import { Field, NumberField } from '../../ui/parts.js'

/** Form fields of a source's schedule. */
export function Schedule({ policy }: { policy?: unknown }) {
  const known = isRecord(policy) ? policy : {}
  const daily = Array.isArray(known.dailyAt) ? known.dailyAt : undefined
  const [mode, setMode] = useState(daily !== undefined ? 'daily' : known.everyHours !== undefined ? 'every' : 'none')
  return (
    <div className="field-row">
      <Field label="Schedule">
        {(given) => (
          <select
            {...given}
            name="schedule"
            className="select"
            value={mode}
            onChange={(event) => setMode(event.target.value)}
          >
            <option value="none">Manually</option>
            <option value="every">Every N hours</option>
            <option value="daily">Daily at fixed times</option>
          </select>
        )}
      </Field>
      {mode === 'every' && (
        <NumberField
          label="Hours"
          name="everyHours"
          min={1}
          max={720}
          required
          defaultValue={typeof known.everyHours === 'number' ? known.everyHours : 24}
        />
      )}
      {mode === 'daily' && (
        <>
          <Field label="Times" hint="Such as 02:00, 14:00.">
            {(given) => (
              <input
                {...given}
                name="dailyAt"
                className="input"
                required
                defaultValue={daily?.join(', ') ?? '02:00'}
                pattern="\s*\d\d:\d\d\s*(,\s*\d\d:\d\d\s*)*"
              />
            )}
          </Field>
          <Field label="UTC offset" hint="Such as +02:00.">
            {(given) => (
              <input
                {...given}
                name="utcOffset"
                className="input"
                placeholder="+00:00"
                pattern="[+\-]\d\d:\d\d"
                defaultValue={typeof known.utcOffset === 'string' ? known.utcOffset : ''}
              />
            )}
          </Field>
        </>
      )}
    </div>
  )
}
