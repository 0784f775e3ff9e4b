internal import HTTPTypes
internal import Wire

/// The request of a `HeldUpgrade` on its way to another node, until the end of the response's head, or of the response if it is no upgrade.
@safe final class Forward: OutgoingRequest {
    let name: String
    /// Nil once the forward is over.
    private weak var held: HeldUpgrade?
    private let received: ReceivedRequest
    private let added: HTTPFields
    private var collector = HeadCollector()
    private var response: ForwardedResponse?
    private var body: [UInt8] = []
    private var failure: ForwardFailure?

    /// The longest body of a response that is passed on, in bytes.
    private static var bodyBytesMax: Int { 1 << 16 }

    init(_ held: HeldUpgrade, to endpoint: Endpoint, _ name: String, adding fields: HTTPFields) {
        self.held = held
        self.name = name
        received = held.request
        added = fields
        super.init(endpoint)
    }

    /// Connects. A failure is reported at the end of the turn.
    func start(on loop: Loop) {
        guard received.hops < ReceivedRequest.hopsMax else { return fail(.alreadyForwarded, on: loop) }
        switch Self.open(endpoint, isNumeric: true) {
        case .failure(let failure): fail(.unreachable(failure.message), on: loop)
        case .success(let descriptor):
            guard let edge = EdgeConnection(connecting: descriptor, self, on: loop) else {
                Listener.discard(descriptor)
                return fail(.unreachable("no memory, or no authorities to trust"), on: loop)
            }
            edge.setDeadline(after: .seconds(loop.settings.forwardSecondsMax))
        }
    }

    /// Fails before there is a connection.
    private func fail(_ failure: ForwardFailure, on loop: Loop) {
        self.failure = failure
        loop.noteEnded(.client(self))
    }

    func fail(_ failure: ForwardFailure) {
        if self.failure == nil { self.failure = failure }
        edge?.fail()
    }

    /// Its outcome is of no interest any more.
    func cancel() {
        held = nil
        edge?.fail()
    }

    override var request: [UInt8] { received.forwardedHead(adding: added) }

    // MARK: The response

    override func receive(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil, held != nil else { return }
        guard response == nil else { return unsafe collect(Array(bytes)[...]) }
        do throws(RequestFault) {
            var rest = unsafe Array(bytes)[...]
            switch try collector.take(from: &rest) {
            case .incomplete: return
            case .tooLong: fail(.badResponse)
            case .complete: begin(try ForwardedResponse(checked: collector.bytes), rest)
            }
        } catch {
            fail(.badResponse)
        }
    }

    private func begin(_ response: ForwardedResponse, _ rest: ArraySlice<UInt8>) {
        if let elsewhere = response.elsewhere { return fail(.elsewhere(elsewhere)) }
        switch response.status {
        case 101:
            guard response.accepts(received.head), let edge, let held else { return fail(.badResponse) }
            if !held.upgraded(self, edge, response.switchingProtocols + rest) { edge.fail() }
        case 503: fail(.unavailable(code: response.errorCode))
        case 200...599:
            self.response = response
            collect(rest)
        default: fail(.badResponse)
        }
    }

    private func collect(_ piece: ArraySlice<UInt8>) {
        guard let response else { return }
        body += piece
        guard body.count <= Self.bodyBytesMax, !response.isInChunks else { return fail(.badResponse) }
        guard let length = response.length else { return }
        guard length <= Self.bodyBytesMax, body.count <= length else { return fail(.badResponse) }
        if body.count == length { passOn(response) }
    }

    private func passOn(_ response: ForwardedResponse) {
        held?.received(response.passedOn(body), from: self)
    }

    override func inputEnded() {
        // A response without a length ends with its connection.
        if let response, response.length == nil, failure == nil { passOn(response) }
        edge?.fail()
    }

    // MARK: The end

    override func failed(_ message: String) { fail(.unreachable(message)) }
    override func expired() { fail(.timedOut) }

    override func ended() {
        guard let held, let loop = held.loop else { return }
        held.failed(self, failure ?? stageFailure, on: loop)
    }

    /// The connection broke by itself.
    private var stageFailure: ForwardFailure {
        if isConnecting { return .unreachable("the connection was refused") }
        guard edge?.isHandshakeDone == true else { return .tls(edge?.certificateFault ?? "the handshake was broken off") }
        return .unreachable("the connection ended before the response")
    }
}
