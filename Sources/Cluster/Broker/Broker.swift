/// A message broker that all nodes use: publish and subscribe on subjects, and a bucket of records with compare-and-set writes.
///
/// Calls never block, and may be made from any thread. Each is answered exactly once, on any thread; what happens without a call is reported
/// as a `BrokerEvent`, in order.
package protocol Broker: Sendable {
    /// Sends a message at most once. Messages of one node on one subject arrive in order. Without connection they are dropped.
    func publish(_ message: [UInt8], to subject: String)

    /// Reads a record from the bucket's leader, not from a replica that may be behind.
    func read(_ key: String, completion: @escaping @Sendable (Result<StoredRecord?, BrokerError>) -> Void)

    /// Writes a record if nobody has written it since.
    ///
    /// - Parameter revision: the revision of the record that is replaced; 0 if there is none.
    /// - Parameter completion: gets the revision of the new record.
    func write(
        _ value: [UInt8], of key: String, after revision: UInt64,
        completion: @escaping @Sendable (Result<UInt64, BrokerError>) -> Void)
}

/// A record of the bucket.
package struct StoredRecord: Sendable, Hashable {
    package var value: [UInt8]
    /// Grows with each write of any record, unless the broker loses its data.
    package var revision: UInt64

    package init(value: [UInt8], revision: UInt64) {
        (self.value, self.revision) = (value, revision)
    }
}

package enum BrokerEvent: Sendable, Hashable {
    /// Subscriptions are in effect.
    case connected
    case disconnected
    case received([UInt8], subject: String)
}

package enum BrokerError: Error, Sendable, Hashable {
    /// The record's revision is another one.
    case conflict
    /// There is no answer: the record may have been written or not.
    case unavailable
    /// The record is too big, or the broker has refused it for another reason.
    case refused(String)
}
