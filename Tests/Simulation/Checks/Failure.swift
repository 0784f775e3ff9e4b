/// The first promise that was seen broken.
package struct Failure: Sendable {
    package let text: String
    /// Since the world began.
    package let time: Duration
}
