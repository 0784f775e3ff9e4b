internal import Engine
internal import Logging
internal import Wire

/// The channels of assistants, some of whose devices are workers.
struct DispatchDevices {
    struct Device {
        let address: ChannelAddress
        /// Without the prefix `assistant:`.
        let assistant: String
        fileprivate(set) var isWorker = false
    }

    private let shards: ShardControl
    private let registry: DispatchRegistry
    /// Nil without calls.
    private let calls: CallInbox?
    private let server: ServerInfo
    private let log = Logger(label: "patchbay.dispatch")
    private var devices: [DeviceID: Device] = [:]

    init(shards: ShardControl, registry: DispatchRegistry, calls: CallInbox?, server: ServerInfo) {
        self.shards = shards
        self.registry = registry
        self.calls = calls
        self.server = server
    }

    subscript(id: DeviceID) -> Device? { devices[id] }

    /// A channel was opened. Without calls, nobody else sends `hello` on it.
    mutating func add(_ address: ChannelAddress, of assistant: String) {
        devices[address.id] = Device(address: address, assistant: assistant)
        guard calls == nil else { return }
        let hello = CallsHello(
            server: server, user: CallParty.assistant(assistant).identity, device: address.id, calls: [], expiresIn: address.expiresIn,
            nodes: address.nodes)
        send(hello.bytes, to: address.id)
    }

    /// - Returns: whether it was a worker.
    mutating func remove(_ id: DeviceID) -> Bool {
        guard let device = devices.removeValue(forKey: id), device.isWorker else { return false }
        registry.noteWorker(of: device.assistant, -1)
        log.info("worker disconnected", metadata: ["worker": "\(id)", "assistant": "\(device.assistant)"])
        return true
    }

    /// A device registers as a worker, unless it has disconnected. The call service learns of it.
    mutating func dedicate(_ id: DeviceID) {
        guard let assistant = devices[id]?.assistant else { return }
        devices[id]?.isWorker = true
        registry.noteWorker(of: assistant, 1)
        log.info("worker registered", metadata: ["worker": "\(id)", "assistant": "\(assistant)"])
        calls?.post(.dedicated(id))
    }

    // MARK: Sending

    func send(_ message: [UInt8], to id: DeviceID) {
        guard let address = devices[id]?.address else { return }
        send(.send(message, to: [address.number]), to: address)
    }

    func refuse(_ error: RequestError, _ requester: DispatchStateMachine.Requester) {
        guard let address = devices[requester.device]?.address else { return }
        send(.refuse(error.code, requester.id.map { CallError(error).bytes(re: $0) }, to: address.number), to: address)
    }

    func closeAll(_ reason: CloseReason) {
        for device in devices.values { send(.close(device.address.number, reason), to: device.address) }
    }

    private func send(_ command: ChannelCommand, to address: ChannelAddress) {
        shards.send(.device(command), address.shard)
    }
}
