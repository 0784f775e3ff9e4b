/// One thing on its way over a socket.
enum Parcel {
    case text([UInt8])
    case binary([UInt8])
    case ping(UInt32)
    case pong(UInt32)
    /// A WebSocket close frame.
    case close(UInt16)
    /// The socket broke.
    case broken

    /// What it takes up on the path, headers of WebSocket, TLS and TCP included.
    var size: Int {
        switch self {
        case .text(let bytes), .binary(let bytes): bytes.count + 66
        case .ping, .pong, .close: 70
        case .broken: 0
        }
    }
}
