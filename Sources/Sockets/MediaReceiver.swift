/// The way of a message to the loop's owner on which no reference is counted.
///
/// A call of `any SocketOwner` keeps it alive for the time of the call: two atomic operations, before each of which the processor waits until
/// all that was written has arrived.
@safe class MediaReceiver {
    /// - Parameter message: valid during the call only.
    func hand(_ message: UnsafeRawBufferPointer, from connection: Connection) {}

    static func to(_ owner: some SocketOwner) -> MediaReceiver { Door(owner) }

    @safe private final class Door<Owner: SocketOwner>: MediaReceiver {
        /// Not retained: it keeps itself alive as long as its loop runs.
        private let owner: Unmanaged<Owner>

        init(_ owner: Owner) {
            unsafe self.owner = unsafe Unmanaged.passUnretained(owner)
        }

        override func hand(_ message: UnsafeRawBufferPointer, from connection: Connection) {
            unsafe owner._withUnsafeGuaranteedRef { unsafe $0.received(binary: message, from: connection) }
        }
    }
}
