/// The first failed check of a world.
package struct Failure: Sendable {
    package let text: String
    /// Time since the start of the world.
    package let time: Duration
}
