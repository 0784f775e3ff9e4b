internal import DequeModule
internal import Wire

/// Devices connected to users' and assistants' channels, and their owners once known.
///
/// A device's requests are handled in order: they wait while the store is asked for its owner, or for those whom an earlier request calls,
/// and while it stores a call that the device has started. What is sent to the device waits for that, too.
struct CallDevices {
    /// Maximum number of requests of a device that wait for the store.
    private static let waitingRequestsMax = 32
    /// Number of messages held back for a device at which all are sent.
    private static let heldMessagesMax = 256

    private struct Device {
        let address: ChannelAddress
        var owner: Identity?
        var isGreeted = false
        /// Whether somebody takes the waiting requests (`nextWaiting`).
        var isWaiting = true
        var waiting: Deque<(request: CallRequest, number: UInt64?)> = []
        /// Messages that wait for `release`; nil: messages are sent at once.
        var held: [[UInt8]]?
    }

    enum Admission {
        case handle
        /// Kept for `nextWaiting`.
        case deferred
        case tooMany
        case unknownDevice
    }

    private var devices: [DeviceID: Device] = [:]
    private(set) var byOwner: [Identity: Set<DeviceID>] = [:]

    mutating func add(_ address: ChannelAddress) {
        devices[address.id] = Device(address: address)
    }

    mutating func identify(_ id: DeviceID, as owner: Identity) {
        guard devices[id] != nil else { return }
        devices[id]?.owner = owner
        byOwner[owner, default: []].insert(id)
    }

    /// - Returns: the owner; nil if the device is not identified or has disconnected.
    mutating func greet(_ id: DeviceID) -> Identity? {
        guard let owner = devices[id]?.owner else { return nil }
        devices[id]?.isGreeted = true
        return owner
    }

    /// Lets an admitted request and all later ones wait. The caller takes them by `nextWaiting`.
    mutating func pause(_ id: DeviceID, with request: CallRequest, number: UInt64?) {
        devices[id]?.isWaiting = true
        devices[id]?.waiting.append((request, number))
    }

    /// Removes the oldest waiting request; nil ends the wait.
    mutating func nextWaiting(of id: DeviceID) -> (request: CallRequest, number: UInt64?)? {
        if let next = devices[id]?.waiting.popFirst() { return next }
        devices[id]?.isWaiting = false
        return nil
    }

    mutating func admit(_ request: CallRequest, number: UInt64?, from id: DeviceID) -> Admission {
        guard let device = devices[id] else { return .unknownDevice }
        guard device.isWaiting else { return .handle }
        guard device.waiting.count < Self.waitingRequestsMax else { return .tooMany }
        devices[id]?.waiting.append((request, number))
        return .deferred
    }

    /// Holds messages to a device back until `release`.
    mutating func hold(_ id: DeviceID) { devices[id]?.held = [] }

    func isHeld(_ id: DeviceID) -> Bool { devices[id]?.held != nil }

    /// - Returns: false if no more messages may be held back.
    mutating func keep(_ message: [UInt8], for id: DeviceID) -> Bool {
        devices[id]?.held?.append(message)
        return devices[id]?.held.map { $0.count < Self.heldMessagesMax } ?? true
    }

    /// Ends the hold.
    ///
    /// - Returns: the messages held back, in order.
    mutating func release(_ id: DeviceID) -> [[UInt8]] {
        defer { devices[id]?.held = nil }
        return devices[id]?.held ?? []
    }

    /// - Returns: the owner, if it was known.
    mutating func remove(_ id: DeviceID) -> Identity? {
        guard let owner = devices.removeValue(forKey: id)?.owner else { return nil }
        byOwner[owner]?.remove(id)
        if byOwner[owner]?.isEmpty == true { byOwner[owner] = nil }
        return owner
    }

    /// Nil until the owner is known.
    func owner(of id: DeviceID) -> Identity? { devices[id]?.owner }

    func address(of id: DeviceID) -> ChannelAddress? { devices[id]?.address }

    func all(of owner: Identity) -> Set<DeviceID> { byOwner[owner] ?? [] }

    /// The devices that may be sent messages: `hello` is the first message of each.
    func greeted(of owner: Identity) -> [DeviceID] { all(of: owner).filter { devices[$0]?.isGreeted == true } }
}
