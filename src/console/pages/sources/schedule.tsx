import { useState } from 'react'
import { isRecord } from '../../api/session.js'
import { NumberField, SelectField, TextField } from '../../ui/fields.js'

/** Form fields of a source's schedule. @param policy `syncPolicy` of the source's metadata */
export function Schedule({ policy }: { policy?: unknown }) {
  const { dailyAt, everyHours, utcOffset } = isRecord(policy) ? policy : {}
  const times = Array.isArray(dailyAt) ? dailyAt : undefined
  const [mode, setMode] = useState(times !== undefined ? 'daily' : everyHours !== undefined ? 'every' : 'none')
  return (
    <div className="field-row">
      <SelectField label="Schedule" name="schedule" value={mode} onChange={(event) => setMode(event.target.value)}>
        <option value="none">Manually</option>
        <option value="every">Every N hours</option>
        <option value="daily">Daily at fixed times</option>
      </SelectField>
      {mode === 'every' && (
        <NumberField
          label="Hours"
          name="everyHours"
          min={1}
          max={720}
          required
          defaultValue={typeof everyHours === 'number' ? everyHours : 24}
        />
      )}
      {mode === 'daily' && (
        <>
          <TextField
            label="Times"
            hint="Such as 02:00, 14:00."
            name="dailyAt"
            required
            defaultValue={times?.join(', ') ?? '02:00'}
            pattern="\s*\d\d:\d\d\s*(,\s*\d\d:\d\d\s*)*"
          />
          <TextField
            label="UTC offset"
            hint="Such as +02:00."
            name="utcOffset"
            placeholder="+00:00"
            pattern="[+\-]\d\d:\d\d"
            defaultValue={typeof utcOffset === 'string' ? utcOffset : ''}
          />
        </>
      )}
    </div>
  )
}
