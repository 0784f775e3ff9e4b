/// One message in flight on a connection.
enum SocketMessage {
    case text([UInt8])
    case binary([UInt8])
    case ping(UInt32)
    case pong(UInt32)
    /// A WebSocket close frame.
    case close(UInt16)
    /// Connection reset.
    case broken

    /// Bytes on the path, including WebSocket, TLS and TCP headers.
    var size: Int {
        switch self {
        case .text(let bytes), .binary(let bytes): bytes.count + 66
        case .ping, .pong, .close: 70
        case .broken: 0
        }
    }
}
