import Wire

extension CallStateMachine {
    /// Whoever is called and had no device yet rings now.
    mutating func connect(_ device: DeviceID, of user: Identity, at now: Instant, into effects: inout [Effect]) {
        precondition(users[device] == nil, "a device is connected once; each connection has an id of its own")
        let party = CallParty(user)
        let devicesMax = party.isAssistant ? Limits.callDevicesPerAssistantMax : Limits.callDevicesPerUserMax
        if let line = lines[user], line.devices.count >= devicesMax {
            let oldest = line.devices[0]
            disconnect(oldest)
            effects.append(.close(oldest))
        }
        for id in lines[user]?.calls ?? [] { ring(party, in: id, at: now, into: &effects) }
        users[device] = user
        lines[user, default: CallUser()].devices.append(device)
        effects.append(.greet(device, of: user, calls: snapshot(of: user)))
    }

    mutating func disconnect(_ device: DeviceID) {
        guard let user = users.removeValue(forKey: device) else { return }
        lines[user]?.devices.removeAll { $0 == device }
        dropLineIfIdle(of: user)
    }
}
