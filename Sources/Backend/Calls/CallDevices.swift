internal import Wire

/// Devices connected to users' and assistants' channels, and their owners once known.
struct CallDevices {
    /// Maximum number of requests queued until a device's owner is known.
    private static let earlyRequestsMax = 32

    private struct Device {
        let address: DeviceAddress
        var owner: Identity?
        /// Requests received before the owner was known.
        var early: [(request: CallRequest, number: UInt64?)] = []
    }

    enum Admission {
        case handle
        /// Kept until the owner is known.
        case deferred
        case tooEarly
        case unknownDevice
    }

    private var devices: [DeviceID: Device] = [:]
    private(set) var byOwner: [Identity: Set<DeviceID>] = [:]

    mutating func add(_ address: DeviceAddress) {
        devices[address.id] = Device(address: address)
    }

    /// - Returns: the requests queued until now.
    mutating func identify(_ id: DeviceID, as owner: Identity) -> [(request: CallRequest, number: UInt64?)] {
        guard var device = devices[id] else { return [] }
        let early = device.early
        device.owner = owner
        device.early = []
        devices[id] = device
        byOwner[owner, default: []].insert(id)
        return early
    }

    mutating func admit(_ request: CallRequest, number: UInt64?, from id: DeviceID) -> Admission {
        guard let device = devices[id] else { return .unknownDevice }
        if device.owner != nil { return .handle }
        guard device.early.count < Self.earlyRequestsMax else { return .tooEarly }
        devices[id]?.early.append((request, number))
        return .deferred
    }

    /// - Returns: the owner, if it was known.
    mutating func remove(_ id: DeviceID) -> Identity? {
        guard let owner = devices.removeValue(forKey: id)?.owner else { return nil }
        byOwner[owner]?.remove(id)
        if byOwner[owner]?.isEmpty == true { byOwner[owner] = nil }
        return owner
    }

    func address(of id: DeviceID) -> DeviceAddress? { devices[id]?.address }

    func all(of owner: Identity) -> Set<DeviceID> { byOwner[owner] ?? [] }
}

/// Why an admitted device is closed again.
struct DeviceError: Error {
    let reason: CloseReason
}
