// Whether the browser will ask its user for the microphone.

/** `granted`, `denied` or `prompt`. Browsers that do not tell name their microphones only to pages that may use one. */
export async function microphonePermission({ permissions, mediaDevices } = navigator) {
  try {
    return (await permissions.query({ name: /** @type {PermissionName} */ ('microphone') })).state
  } catch {
    const devices = await mediaDevices.enumerateDevices().catch(() => [])
    return devices.some(({ kind, label }) => kind === 'audioinput' && label !== '') ? 'granted' : 'prompt'
  }
}
